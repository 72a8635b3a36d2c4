import { type ChildProcess, spawn as spawnChild } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { UserError } from '../runtime/errors.ts';
import type { Report } from '../runtime/events.ts';
import { formatBytes } from '../text/format.ts';
import { shellWord } from '../text/shell-word.ts';
import { redact } from './redact.ts';
import type { Command, Runner, RunningProcess, RunOptions } from './runner.ts';

const STDERR_LIMIT = 256 * 1024;
/** Bytes: catalogs of 100,000 tables stay below it. */
const STDOUT_LIMIT = 256 * 1024 * 1024;
/** Milliseconds between SIGTERM and SIGKILL. */
const FORCE_KILL_AFTER = 3000;
/** Milliseconds for which the output of a killed program is read: its own children may hold the pipes. */
const READ_AFTER_KILL = 1000;

export function localRunner({ environment, report }: { environment: NodeJS.ProcessEnv; report: Report }): Runner {
  function spawn(command: Command, options: RunOptions, stdin: 'pipe' | 'ignore') {
    options.signal?.throwIfAborted();
    const described = describeCommand(command);
    const startedAt = performance.now();
    report({ event: 'command', command: described });
    const onEnd = (exit: number | null) =>
      report({
        event: 'command_ended',
        command: described,
        exit,
        duration_ms: Math.round(performance.now() - startedAt),
      });
    const child = startChild(command, { environment, stdin: options.input === undefined ? stdin : 'pipe', onEnd });
    endsWithThisProcess(child, command);
    const stderr = tailOf(child.stderr, options.onErrorLine);
    const stdout = stdin === 'pipe' ? () => '' : wholeOf(child, command);
    if (options.input !== undefined) child.stdin?.end(options.input);
    const ended = completion(command, { child, stdout, stderr, signal: options.signal, onEnd });
    // Its output is read first, and an abort may end it meanwhile.
    ended.catch(() => {});
    return { child, ended };
  }

  return {
    id: 'local',
    run: async (command, options = {}) => spawn(command, options, 'ignore').ended,
    start(command, options = {}): RunningProcess {
      const { child, ended } = spawn(command, options, 'pipe');
      const { stdin, stdout } = child;
      // Without file descriptors there are none.
      if (!stdin || !stdout) throw cannotStart(command, new Error('too many open files'));
      return {
        stdin,
        stdout,
        ended,
        kill: () => terminate(child),
        unref() {
          child.unref();
          for (const stream of [child.stdin, child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref();
        },
      };
    },
  };
}

interface Start {
  environment: NodeJS.ProcessEnv;
  stdin: 'pipe' | 'ignore';
  onEnd: (exit: number | null) => void;
}

function startChild(command: Command, { environment, stdin, onEnd }: Start): ChildProcess {
  try {
    const child = spawnChild(command.file, command.args, {
      env: { ...environment, ...command.env },
      stdio: [stdin, 'pipe', 'pipe'],
      ...(command.user && { uid: command.user.uid, gid: command.user.gid }),
      ...(command.detached && { detached: true }),
    });
    // A program that ends early closes its input.
    child.stdin?.on('error', () => {});
    return child;
  } catch (error) {
    onEnd(null);
    throw cannotStart(command, error);
  }
}

/** Also when this one ends without waiting for it. */
function endsWithThisProcess(child: ChildProcess, { detached }: Command): void {
  if (detached) return;
  if (running.size === 0) process.on('exit', endAll);
  running.add(child);
  child.once('close', () => {
    running.delete(child);
    if (running.size === 0) process.off('exit', endAll);
  });
}

/** One for the process: a listener for each child would be many. */
const running = new Set<ChildProcess>();

function endAll(): void {
  for (const child of running) child.kill('SIGTERM');
}

function terminate(child: ChildProcess): void {
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), FORCE_KILL_AFTER);
  child.once('exit', () => {
    clearTimeout(force);
    setTimeout(() => closePipes(child), READ_AFTER_KILL).unref();
  });
}

function closePipes({ stdout, stderr }: ChildProcess): void {
  stdout?.destroy();
  stderr?.destroy();
}

function describeCommand({ file, args }: Command): string {
  return redact([file, ...args].map(shellWord).join(' '));
}

function tailOf(stream: Readable | null, onErrorLine: ((line: string) => void) | undefined): () => string {
  let kept = '';
  let unfinished = '';
  stream?.setEncoding('utf8').on('data', (chunk: string) => {
    kept = (kept + chunk).slice(-STDERR_LIMIT);
    if (!onErrorLine) return;
    const lines = (unfinished + chunk).split('\n');
    unfinished = lines.pop() ?? '';
    for (const line of lines) onErrorLine(line);
  });
  stream?.on('end', () => unfinished !== '' && onErrorLine?.(unfinished));
  return () => kept;
}

function wholeOf(child: ChildProcess, { file }: Command): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= STDOUT_LIMIT) chunks.push(chunk);
    else if (chunks.splice(0).length > 0) terminate(child);
  });
  return () => {
    if (bytes <= STDOUT_LIMIT) return Buffer.concat(chunks).toString();
    throw new UserError('tool_output_too_large', `${file} printed more than ${formatBytes(STDOUT_LIMIT)}`, {
      hint: 'Check which program that is: tool config check',
    });
  };
}

interface EndState {
  child: ChildProcess;
  stdout: () => string;
  stderr: () => string;
  signal: AbortSignal | undefined;
  onEnd: (exit: number | null) => void;
}

async function completion(command: Command, { child, stdout, stderr, signal, onEnd }: EndState) {
  const { promise, resolve } = Promise.withResolvers<number | null>();
  let failure: unknown;
  const abort = (): void => terminate(child);
  child.on('error', (error) => {
    failure = error;
  });
  child.once('close', resolve);
  signal?.addEventListener('abort', abort, { once: true });
  const code = await promise;
  signal?.removeEventListener('abort', abort);
  const isStarted = child.pid !== undefined;
  const exitCode = isStarted ? code : null;
  onEnd(exitCode);
  signal?.throwIfAborted();
  if (!isStarted) throw cannotStart(command, failure);
  return { exitCode, stdout: stdout(), stderr: stderr() };
}

function cannotStart({ file }: Command, cause: unknown): UserError {
  const reason = cause instanceof Error ? cause.message : 'unknown reason';
  return new UserError('tool_not_started', `Cannot start ${file}: ${reason}`, {
    hint: 'Check that it is installed and executable: tool config check',
    cause,
  });
}
