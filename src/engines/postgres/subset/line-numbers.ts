const LINE_FEED = 0x0a;
const ZERO = 0x30;
const NINE = 0x39;

/** The integers of each line, without strings: `16403	(12,5)` has three. The array is reused for the next line. */
export function forEachLine(lines: Uint8Array, take: (numbers: readonly number[], count: number) => void): void {
  const numbers: number[] = [];
  let count = 0;
  let isDigits = false;
  for (const byte of lines) {
    if (byte >= ZERO && byte <= NINE) {
      numbers[count] = (isDigits ? (numbers[count] ?? 0) * 10 : 0) + byte - ZERO;
      isDigits = true;
      continue;
    }
    if (isDigits) count += 1;
    isDigits = false;
    if (byte !== LINE_FEED) continue;
    take(numbers, count);
    count = 0;
  }
}
