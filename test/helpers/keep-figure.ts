import { appendFileSync } from 'node:fs';

/** Hands a ratio to `npm run bench -- all` and `check`; a bench that is run alone only prints it. */
export function keepFigure(name: string, ratio: number): void {
  const file = process.env.TOOL_BENCH_FIGURES;
  if (file && Number.isFinite(ratio)) appendFileSync(file, `${JSON.stringify({ [name]: Number(ratio.toFixed(2)) })}\n`);
}
