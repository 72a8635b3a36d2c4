import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../test/bench/', import.meta.url));
const file = join(folder, 'figures.json');

/** Benches whose ratios are kept, with their arguments. */
const KEPT = {
  'postgres-small': [],
  'postgres-tables': ['500', '40'],
  postgres: ['440'],
  unchanged: ['300'],
  mysql: ['100', 'ratios'],
  'start-up': [],
};

/** A ratio may be so much worse than the kept one. */
const TOLERANCE = 1.1;

export const MEASURES = { all: keepFigures, check: checkFigures, compare: compareWithCommit };

/** Runs the benches, all of them without names, and writes their ratios into `figures.json`. */
function keepFigures(names) {
  const measured = measure(names);
  writeFileSync(file, `${JSON.stringify({ ...readKept(), ...measured }, null, 2)}\n`);
  return Object.keys(measured).length === chosen(names).length ? 0 : 1;
}

/** Runs the benches, and fails when a ratio is more than a tenth worse than in `figures.json`, or was not measured. */
function checkFigures(names) {
  return reportFigures(readKept(), measure(names), names);
}

function reportFigures(before, now, names) {
  const rows = compareFigures(before, now, chosen(names));
  console.table(rows);
  return rows.every(({ verdict }) => verdict !== 'WORSE' && verdict !== 'NOT MEASURED') ? 0 : 1;
}

/** Runs the benches of COMMIT and the present ones on this machine, and fails when a ratio is more than a tenth worse. */
function compareWithCommit([commit, ...names]) {
  if (commit === undefined) throw new Error('Usage: npm run bench -- compare COMMIT [NAME…]');
  const scratch = mkdtempSync(join(tmpdir(), 'tool-before-'));
  const tree = join(scratch, 'tree');
  try {
    git('worktree', 'add', '--quiet', '--detach', tree, commit);
    symlinkSync(join(folder, '../../node_modules'), join(tree, 'node_modules'));
    succeed(process.execPath, [join(tree, '.ci/build.mjs')]);
    const before = measure(names, join(tree, 'test/bench'));
    return reportFigures(before, measure(names), names);
  } finally {
    git('worktree', 'remove', '--force', tree);
    rmSync(scratch, { recursive: true });
  }
}

function git(...words) {
  succeed('git', ['-C', folder, ...words]);
}

function succeed(program, words) {
  const { status } = spawnSync(program, words, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${status}`);
}

export function compareFigures(kept, measured, names) {
  return names.flatMap((bench) => {
    const [before, now] = [kept[bench]?.figures ?? {}, measured[bench]?.figures ?? {}];
    const figures = [...new Set([...Object.keys(before), ...Object.keys(now)])];
    if (figures.length === 0) return [{ bench, figure: '', kept: null, now: null, verdict: 'NOT MEASURED' }];
    return figures.map((figure) => {
      const [was = null, is = null] = [before[figure], now[figure]];
      return { bench, figure, kept: was, now: is, verdict: verdictOf(was, is) };
    });
  });
}

function verdictOf(was, is) {
  if (is === null) return 'NOT MEASURED';
  if (was === null) return 'new';
  return is > was * TOLERANCE ? 'WORSE' : 'ok';
}

function chosen(names) {
  const unknown = names.find((name) => !(name in KEPT));
  if (unknown !== undefined)
    throw new Error(`No figures of ${unknown} are kept; those are: ${Object.keys(KEPT).join(', ')}`);
  return names.length === 0 ? Object.keys(KEPT) : names;
}

function measure(names, benches = folder) {
  const scratch = mkdtempSync(join(tmpdir(), 'tool-figures-'));
  try {
    return Object.fromEntries(chosen(names).flatMap((name) => runOf(name, join(scratch, name), benches)));
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function runOf(name, output, benches) {
  const started = performance.now();
  const { status } = runBench(name, KEPT[name], { benches, env: { TOOL_BENCH_FIGURES: output } });
  const figures = existsSync(output) ? Object.assign({}, ...linesOf(output)) : null;
  if (!figures) {
    console.error(`${name} has measured nothing, and ended with ${status}`);
    return [];
  }
  const seconds = Math.round((performance.now() - started) / 1000);
  return [
    [name, { commit: commit(), at: new Date().toISOString().slice(0, 10), seconds, machine: machine(), figures }],
  ];
}

/** Each line is what `keepFigure` of the benches has written. */
function linesOf(path) {
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

export function runBench(name, words, { benches = folder, env = {} } = {}) {
  return spawnSync(process.execPath, [join(benches, `${name}.ts`), ...words], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
}

function readKept() {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

function commit() {
  const { stdout } = spawnSync('git', ['-C', folder, 'describe', '--always', '--dirty'], { encoding: 'utf8' });
  return stdout?.trim() || null;
}

function machine() {
  const [first, ...others] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
  return `${others.length + 1} × ${first?.model.trim() ?? 'unknown'}, ${memory}, Node ${process.versions.node}`;
}
