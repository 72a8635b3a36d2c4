const UNITS: Record<string, number> = { kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };

/** Bytes of `500MB` or `5GB`, in the units of `formatBytes`; `null` for other texts and for zero. */
export function parseSize(text: string): number | null {
  const [, amount, unit = ''] = /^(\d{1,5})([kMGT]B)$/.exec(text) ?? [];
  return Number(amount) ? Number(amount) * (UNITS[unit] ?? 0) : null;
}
