/** Below this share of the largest value, differences are noise. */
const FLAT_BELOW = 0.01;

/** A bar for each value, from the smallest to the largest; empty for fewer than two values, or without such glyphs. */
export function sparkline(values: number[], { levels }: { levels: string }): string {
  if (values.length < 2 || levels === '') return '';
  const bars = [...levels];
  const least = Math.min(...values);
  const span = Math.max(...values) - least;
  const isFlat = span <= Math.max(...values) * FLAT_BELOW;
  const level = (value: number): number =>
    isFlat ? Math.floor(bars.length / 2) : Math.round(((value - least) / span) * (bars.length - 1));
  return values.map((value) => bars[level(value)]).join('');
}
