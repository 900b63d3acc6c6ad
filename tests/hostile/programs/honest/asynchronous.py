"""Computes with asyncio.run, gather and a subprocess-free queue.

expect: PASSED
"""

import asyncio


async def square(value):
    await asyncio.sleep(0)
    return value * value


async def collect(values):
    return sum(await asyncio.gather(*(square(value) for value in values)))


def task_func(values):
    return asyncio.run(collect(values))
