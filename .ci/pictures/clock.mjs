import { readFileSync } from 'node:fs';

/**
 * Loaded into the program before anything else: `new Date()` is the instant in the file `PICTURES_CLOCK`, so that ages,
 * dates and durations are the same in every run; `performance.now()`, by which the rest is measured, stands still.
 * `Date.now()`, by which locks and timers go, stays as it is.
 */
const RealDate = Date;

class PicturesDate extends RealDate {
  constructor(...parts) {
    if (parts.length > 0) super(...parts);
    else super(readFileSync(process.env.PICTURES_CLOCK, 'utf8').trim());
  }
}

// biome-ignore lint/suspicious/noGlobalAssign: the whole program is to have this clock
Date = Object.defineProperty(PicturesDate, 'name', { value: 'Date' });

performance.now = () => 0;
