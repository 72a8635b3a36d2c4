import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { descendantsOf } from './tool-process.ts';

export interface Measured {
  seconds: number;
  /** The most memory that the process itself held. */
  megabytes: number;
  /** With the programs that run at the same time: the sum of what each of them has held at most. */
  treeMegabytes: number;
  /** Seconds of CPU of the process and of the children that it has waited for, as last seen. */
  cpu: number;
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
  let treeMegabytes = 0;
  let cpu = 0;
  const watch = setInterval(async () => {
    cpu = Math.max(cpu, await cpuSeconds(child.pid));
    if (child.pid === undefined) return;
    const [own = 0, ...others] = await Promise.all([child.pid, ...descendantsOf(child.pid)].map(mostMegabytes));
    megabytes = Math.max(megabytes, own);
    treeMegabytes = Math.max(
      treeMegabytes,
      others.reduce((sum, one) => sum + one, own),
    );
  }, 50);
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      clearInterval(watch);
      if (code !== 0) return reject(new Error(`${file} ended with ${code}\n${output.slice(-2000)}`));
      return resolve({
        seconds: (performance.now() - started) / 1000,
        megabytes,
        treeMegabytes,
        cpu,
        output,
      });
    });
  });
}

async function mostMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}

const TICKS_OF_SECOND = 100;

/** Of a process and of the children that it has waited for; 0 where the system does not tell. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
export async function cpuSeconds(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name of the program, in brackets, may contain anything.
  if (status === '') return 0;
  const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_OF_SECOND;
}

export function printTable(rows: string[][]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  console.log();
}
