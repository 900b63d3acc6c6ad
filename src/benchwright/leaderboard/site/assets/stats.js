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

  // Wilson score interval, as stats.intervals.wilson at 95 %.
  stats.wilson = function (successes, n) {
    const z = 1.959963984540054;
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
  stats.bootstrapMean = function (values, denominator, confidence = 0.95) {
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
    const tail = (1 - confidence) / 2;
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
    return {
      ...found,
      n: n,
      meanA: sumA / n,
      meanB: sumB / n,
      difference: gains.reduce((sum, gain) => sum + gain, 0) / n,
      interval: stats.bootstrapMean(gains, denominator),
      p: stats.mcnemar(found.onlyA.length, found.onlyB.length),
    };
  };
})();
