"""Has one forked process compute and answer through a queue and shared memory.

expect: PASSED
limits: wall=20 cpu=20
"""

import multiprocessing

CONTEXT = multiprocessing.get_context("fork")


def work(values, answers, flag):
    answers.put(sum(value * value for value in values))
    flag.value = 1


def task_func(values):
    len(values)
    answers, flag = CONTEXT.Queue(), CONTEXT.Value("i", 0)
    process = CONTEXT.Process(target=work, args=[values, answers, flag])
    process.start()
    answer = answers.get()
    process.join()
    assert flag.value == 1
    return answer
