import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the heap from growing, where garbage comes in small pieces. Every frame of the screens leaves some 300 kB, for
 * which V8 would let the heap of a session grow by 60 MB. Measured with 1,000 targets: 110 instead of 185 MB, and shorter
 * collections; while an image is made 10 MB less.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=20');
}
