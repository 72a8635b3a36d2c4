import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';

export interface Measured {
  seconds: number;
  /** The most memory that the process itself held. */
  megabytes: number;
  output: string;
}

/** Runs a program to its end; rejects when it fails. */
export function measuredRun(file: string, args: string[]): Promise<Measured> {
  const started = performance.now();
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  let megabytes = 0;
  const watch = setInterval(async () => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    megabytes = Math.max(megabytes, Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024));
  }, 50);
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      clearInterval(watch);
      if (code !== 0) return reject(new Error(`${file} ended with ${code}\n${output.slice(-2000)}`));
      return resolve({ seconds: (performance.now() - started) / 1000, megabytes, output });
    });
  });
}

export function printTable(rows: string[][]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  console.log();
}
