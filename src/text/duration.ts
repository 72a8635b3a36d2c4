const HOURS: Record<string, number> = { h: 1, d: 24, w: 7 * 24, m: 30 * 24, y: 365 * 24 };

/** Milliseconds of `12h`, `30d`, `8w`, `6m` or `1y`; `null` for other texts and for zero. */
export function parseDuration(text: string): number | null {
  const [, amount, unit = ''] = /^(\d{1,5})([hdwmy])$/.exec(text) ?? [];
  return Number(amount) ? Number(amount) * (HOURS[unit] ?? 0) * 3_600_000 : null;
}
