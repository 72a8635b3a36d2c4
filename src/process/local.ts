import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { execa, type Options } from 'execa';
import { UserError } from '../runtime/errors.ts';
import type { Report } from '../runtime/events.ts';
import { shellWord } from '../text/shell-word.ts';
import { redact } from './redact.ts';
import type { Command, ProcessResult, Runner, RunningProcess, RunOptions } from './runner.ts';

const STDERR_LIMIT = 256 * 1024;
/** Milliseconds between SIGTERM and SIGKILL. */
const FORCE_KILL_AFTER = 3000;

export function localRunner({ environment, report }: { environment: NodeJS.ProcessEnv; report: Report }): Runner {
  function spawn(command: Command, options: RunOptions, stdin: 'pipe' | 'ignore') {
    options.signal?.throwIfAborted();
    const described = describeCommand(command);
    const startedAt = performance.now();
    report({ event: 'command', command: described });
    const child = execa(command.file, command.args, {
      env: { ...environment, ...command.env },
      extendEnv: false,
      ...(options.input === undefined ? { stdin } : { input: options.input }),
      ...(command.user && { uid: command.user.uid, gid: command.user.gid }),
      ...(command.detached && { detached: true }),
      buffer: { stdout: stdin !== 'pipe', stderr: false },
      maxBuffer: Number.POSITIVE_INFINITY,
      stripFinalNewline: false,
      reject: false,
      forceKillAfterDelay: FORCE_KILL_AFTER,
      ...(options.signal && { cancelSignal: options.signal }),
    } satisfies Options);
    const stderr = tailOf(child.stderr, options.onErrorLine);
    const onEnd = (exit: number | null) =>
      report({
        event: 'command_ended',
        command: described,
        exit,
        duration_ms: Math.round(performance.now() - startedAt),
      });
    const ended = completion(command, { result: child, stderr, signal: options.signal, onEnd });
    // Its output is read first, and an abort may end it meanwhile.
    ended.catch(() => {});
    return { child, ended };
  }

  return {
    id: 'local',
    run: async (command, options = {}) => spawn(command, options, 'ignore').ended,
    start(command, options = {}): RunningProcess {
      const { child, ended } = spawn(command, options, 'pipe');
      return {
        stdin: child.stdin as Writable,
        stdout: child.stdout as Readable,
        ended,
        kill: () => void child.kill('SIGTERM'),
        unref() {
          child.nodeChildProcess.unref();
          for (const stream of [child.stdin, child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref();
        },
      };
    },
  };
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

interface EndState {
  result: PromiseLike<{ exitCode?: number; signal?: string; stdout?: unknown; cause?: unknown }>;
  stderr: () => string;
  signal: AbortSignal | undefined;
  onEnd: (exit: number | null) => void;
}

async function completion(
  command: Command,
  { result: running, stderr, signal, onEnd }: EndState,
): Promise<ProcessResult> {
  const result = await running;
  onEnd(result.exitCode ?? null);
  signal?.throwIfAborted();
  if (result.exitCode === undefined && result.signal === undefined) throw cannotStart(command, result.cause);
  return {
    exitCode: result.exitCode ?? null,
    stdout: typeof result.stdout === 'string' ? result.stdout : '',
    stderr: stderr(),
  };
}

function cannotStart({ file }: Command, cause: unknown): UserError {
  const reason = cause instanceof Error ? cause.message : 'unknown reason';
  return new UserError('tool_not_started', `Cannot start ${file}: ${reason}`, {
    hint: 'Check that it is installed and executable: tool config check',
    cause,
  });
}
