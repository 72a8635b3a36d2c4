import { markdownTable } from '../generate/markdown-table.ts';

export interface PageFigures {
  machine: string;
  versions: string[];
  /** ISO date. */
  at: string;
  commit: string;
  rounds: number;
  /** Columns of the table. */
  sizes: string[];
  rows: FigureRow[];
}

export interface FigureRow {
  task: string;
  /** Command of this program, or of an alternative. */
  command: string;
  isOwn: boolean;
  /** Seconds of each round, by size. */
  seconds: Record<string, number[]>;
}

/** Returns docs/benchmarks.md. */
export function benchmarksPage(figures: PageFigures): string {
  const { machine, versions, at, commit, rounds, sizes } = figures;
  return `# Benchmarks

Compare the times of the program with those of other tools.

\`\`\`sh
npm run bench -- page
\`\`\`

Seconds: median of ${rounds} rounds in turns ± half of the range. The ratio is to the fastest alternative of the task: above 1 is slower.

- ${machine}; ${versions.join(', ')}; commit \`${commit}\`, ${at}
- A server on the same machine, with syncs; two sessions or workers each; \`tool\` with its start, checks and checksums

${markdownTable([['task', 'command', ...sizes], ...figures.rows.map((row) => lineOf(row, figures))])}

- \`tool load\` verifies every table and gathers statistics; a template must have no sessions.
- "Again" follows a build without changes. A reset saves the present state first. Pushes go to a folder.
`;
}

const [BEGIN, END] = ['<!-- Times: npm run bench -- page -->', '<!-- End of times -->'];

/** Rows of the table of the README: a task, and the command of ours. */
const SHOWN = [
  ['dump', 'tool build'],
  ['dump', 'tool build, again'],
  ['restore', 'tool load'],
  ['return to the start', 'tool reset'],
];

/** Returns the README with the times of the largest database. */
export function readmeWithTimes(readme: string, figures: PageFigures): string {
  const size = figures.sizes.findLast((one) => / [MG]B$/.test(one)) ?? '';
  const lines = SHOWN.map(([task = '', command = '']) => {
    const own = figures.rows.find((row) => row.task === task && row.command === command);
    const other = fastestAlternative(figures.rows, { task, size }) ?? Number.NaN;
    const others = figures.rows.filter((row) => row.task === task && !row.isOwn);
    const fastest = others.find((row) => median(row.seconds[size] ?? []) === other);
    return [
      `\`${command}\``,
      `${rounded(median(own?.seconds[size] ?? []))} s`,
      `${rounded(other)} s`,
      `\`${fastest?.command}\``,
    ];
  });
  const table = markdownTable([[size, '', 'the fastest alternative', ''], ...lines]);
  const [before, rest = ''] = readme.split(BEGIN);
  const after = rest.split(END)[1];
  if (after === undefined) throw new Error(`The README has no place for times: ${BEGIN}`);
  return `${before}${BEGIN}\n\n${table}\n\n${END}${after}`;
}

/** Returns the fastest median of the alternatives of a task; null where there is none. */
function fastestAlternative(rows: FigureRow[], { task, size }: { task: string; size: string }): number | null {
  const times = rows
    .filter((row) => row.task === task && !row.isOwn)
    .map((row) => median(row.seconds[size] ?? []))
    .filter(Number.isFinite);
  return times.length === 0 ? null : Math.min(...times);
}

function median(times: number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

function lineOf(row: FigureRow, { rows, sizes }: PageFigures): string[] {
  const cells = sizes.map((size) => {
    const times = row.seconds[size];
    if (!times || times.length === 0) return '';
    const fastest = row.isOwn ? fastestAlternative(rows, { task: row.task, size }) : null;
    const ratio = fastest === null ? '' : ` **×${(median(times) / fastest).toFixed(2)}**`;
    return `${rounded(median(times))}±${rounded((Math.max(...times) - Math.min(...times)) / 2)}${ratio}`;
  });
  return [row.task, `\`${row.command}\``, ...cells];
}

function rounded(seconds: number): string {
  return seconds < 10 ? seconds.toFixed(2) : seconds.toFixed(0);
}
