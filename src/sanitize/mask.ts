const LONGEST = 40;

/** Keeps only the first character and the punctuation. */
export function maskValue(value: string): string {
  const line = value.replaceAll(/\s+/g, ' ').trim();
  const masked = line.replaceAll(/[\p{L}\p{N}]/gu, '*');
  const first = line.match(/^./u)?.[0] ?? '';
  const shown = line.length > 2 ? first + masked.slice(first.length) : masked;
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}…` : shown;
}
