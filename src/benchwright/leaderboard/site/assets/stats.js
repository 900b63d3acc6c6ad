// The same numbers as benchwright's own statistics, from the same counts.
(function () {
  "use strict";
  const stats = (BW.stats = {});

  const logFactorials = [0];
  const logFactorial = function (n) {
    for (let i = logFactorials.length; i <= n; i++) logFactorials.push(logFactorials[i - 1] + Math.log(i));
    return logFactorials[n];
  };

  // Two-sided exact McNemar test, as stats.paired.mcnemar_exact.
  stats.mcnemar = function (onlyA, onlyB) {
    const n = onlyA + onlyB;
    const few = Math.min(onlyA, onlyB);
    if (n === 0 || onlyA === onlyB) return 1;
    let sum = 0;
    for (let i = 0; i <= few; i++) sum += Math.exp(logFactorial(n) - logFactorial(i) - logFactorial(n - i) - n * Math.LN2);
    return Math.min(1, 2 * sum);
  };

  const Z = 1.959963984540054; // of both sides at 95 %

  // Difference of two paired shares after Bonett and Price (2012), as stats.paired.bonett_price at 95 %.
  stats.bonettPrice = function (onlyA, onlyB, n) {
    const [a, b] = [(onlyA + 1) / (n + 2), (onlyB + 1) / (n + 2)];
    const half = Z * Math.sqrt((a + b - (a - b) ** 2) / (n + 2));
    const difference = (onlyA - onlyB) / n;
    return { low: Math.max(-1, Math.min(a - b - half, difference)), high: Math.min(1, Math.max(a - b + half, difference)) };
  };

  // Area under a smooth curve from 0 to x, by Simpson's rule.
  const area = function (curve, x) {
    const steps = 400;
    let sum = curve(0) + curve(x);
    for (let i = 1; i < steps; i++) sum += (i % 2 ? 4 : 2) * curve((i * x) / steps);
    return (sum * x) / (3 * steps);
  };
  const normalBelow = (x) => 0.5 + area((u) => Math.exp((-u * u) / 2) / Math.sqrt(2 * Math.PI), x);

  // Student's t that 97.5 % lie below, for whole degrees of freedom, by halving.
  const studentQuantile = function (freedom) {
    let height = freedom % 2 ? 1 / Math.sqrt(Math.PI) : Math.sqrt(Math.PI) / 2; // of gamma functions, two by two
    for (let i = freedom % 2 ? 1 : 2; i < freedom; i += 2) height *= (i + 1) / i;
    const density = (u) => (height / Math.sqrt(freedom * Math.PI)) * Math.pow(1 + (u * u) / freedom, -(freedom + 1) / 2);
    // The area in the variable atan(u), in which even one degree of freedom has no long tail.
    const below = (t) => 0.5 + area((w) => density(Math.tan(w)) / Math.cos(w) ** 2, Math.atan(t));
    let [low, high] = [0, 14];
    for (let i = 0; i < 60; i++) [low, high] = below((low + high) / 2) < 0.975 ? [(low + high) / 2, high] : [low, (low + high) / 2];
    return low;
  };

  // Share of rounds left out at each end, as stats.intervals.expanded_tail at 95 %.
  stats.expandedTail = (n) => (n <= 1 ? 0.025 : normalBelow(-studentQuantile(n - 1) * Math.sqrt(n / (n - 1))));

  // Wilson score interval, as stats.intervals.wilson at 95 %.
  stats.wilson = function (successes, n) {
    const z = Z;
    const share = successes / n;
    const middle = (share + (z * z) / (2 * n)) / (1 + (z * z) / n);
    const half = (z * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n))) / (1 + (z * z) / n);
    return [successes === 0 ? 0 : middle - half, successes === n ? 1 : middle + half];
  };

  // In place; length is a power of two.  inverse leaves the factor 1/length to the caller.
  const fourier = function (real, imaginary, inverse) {
    const n = real.length;
    for (let i = 1, j = 0; i < n; i++) {
      let bit = n >> 1;
      for (; j & bit; bit >>= 1) j ^= bit;
      j ^= bit;
      if (i < j) {
        [real[i], real[j]] = [real[j], real[i]];
        [imaginary[i], imaginary[j]] = [imaginary[j], imaginary[i]];
      }
    }
    for (let size = 2; size <= n; size *= 2) {
      const half = size / 2;
      const angle = ((inverse ? 2 : -2) * Math.PI) / size;
      for (let k = 0; k < half; k++) {
        const c = Math.cos(angle * k);
        const s = Math.sin(angle * k);
        for (let i = k; i < n; i += size) {
          const x = real[i + half] * c - imaginary[i + half] * s;
          const y = real[i + half] * s + imaginary[i + half] * c;
          real[i + half] = real[i] - x;
          imaginary[i + half] = imaginary[i] - y;
          real[i] += x;
          imaginary[i] += y;
        }
      }
    }
  };

  const greatestCommonDivisor = (a, b) => (b ? greatestCommonDivisor(b, a % b) : a);
  const MOST_POINTS = 1 << 18; // a quarter of a second; finer steps would not be seen in a tenth of a point

  // What stats.intervals.bootstrap_mean comes to with endlessly many rounds: the mean of n values drawn from these n
  // has an exact distribution, the n-fold convolution of one draw's.  Values are multiples of 1/denominator.
  stats.bootstrapMean = function (values, denominator) {
    const n = values.length;
    const mean = values.reduce((sum, value) => sum + value, 0) / n;
    const fits = (steps) => 2 * n * steps + 1 <= MOST_POINTS;
    const steps = fits(denominator) ? denominator : Math.floor((MOST_POINTS - 1) / (2 * n));
    const exact = steps === denominator;
    let points = 1;
    const whole = values.map((value) => Math.round(value * steps));
    const least = whole.reduce((low, value) => Math.min(low, value), Infinity);
    const most = whole.reduce((high, value) => Math.max(high, value), -Infinity);
    while (points < n * (most - least) + 1) points *= 2;
    const real = new Float64Array(points);
    const imaginary = new Float64Array(points);
    for (const value of whole) real[value - least] += 1 / n;
    fourier(real, imaginary, false);
    for (let i = 0; i < points; i++) {
      const size = Math.pow(Math.hypot(real[i], imaginary[i]), n);
      const angle = Math.atan2(imaginary[i], real[i]) * n;
      real[i] = size * Math.cos(angle);
      imaginary[i] = size * Math.sin(angle);
    }
    fourier(real, imaginary, true);
    const quantile = function (share) {
      let sum = 0;
      for (let i = 0; i < points; i++) {
        sum += real[i] / points;
        if (sum >= share - 1e-12) return (i + n * least) / (steps * n);
      }
      return most / steps;
    };
    // Rounding to a coarser step moves the mean a little; the interval is moved back.
    const shift = exact ? 0 : mean - whole.reduce((sum, value) => sum + value, 0) / (steps * n);
    const tail = stats.expandedTail(n);
    return { low: quantile(tail) + shift, high: quantile(1 - tail) + shift, exact: exact };
  };

  // Two rows of a matrix, problem by problem, as stats.paired.paired_difference.
  stats.compare = function (matrix, a, b) {
    const width = matrix.problems.length;
    const shares = BW.shares(matrix.palette);
    const found = { onlyA: [], onlyB: [], both: 0, neither: 0, tied: 0, leftOut: 0, samples: 1 };
    const gains = [];
    let sumA = 0;
    let sumB = 0;
    let denominator = 1;
    for (let i = 0; i < width; i++) {
      const codeA = matrix.codes[a * width + i];
      const codeB = matrix.codes[b * width + i];
      const [x, y] = [shares[codeA], shares[codeB]];
      if (x === null || y === null) {
        found.leftOut += 1;
        continue;
      }
      for (const code of [codeA, codeB]) {
        const scored = matrix.palette[code][0];
        found.samples = Math.max(found.samples, scored);
        if (denominator <= MOST_POINTS) denominator = (denominator / greatestCommonDivisor(denominator, scored)) * scored;
      }
      gains.push(x - y);
      sumA += x;
      sumB += y;
      if (x > y) found.onlyA.push(i);
      else if (y > x) found.onlyB.push(i);
      else if (x === 1) found.both += 1;
      else if (x === 0) found.neither += 1;
      else found.tied += 1;
    }
    const n = gains.length;
    if (!n) return { ...found, n: 0 };
    const whole = gains.every((gain) => gain === 0 || Math.abs(gain) === 1);
    const interval = () => {
      if (n === 1) return { low: -1, high: 1 }; // a single problem shows nothing of others
      return whole ? stats.bonettPrice(found.onlyA.length, found.onlyB.length, n) : stats.bootstrapMean(gains, denominator);
    };
    return {
      ...found,
      n: n,
      meanA: sumA / n,
      meanB: sumB / n,
      difference: gains.reduce((sum, gain) => sum + gain, 0) / n,
      interval: interval(),
      p: stats.mcnemar(found.onlyA.length, found.onlyB.length),
    };
  };
})();
