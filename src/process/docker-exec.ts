import type { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { UserError } from '../runtime/errors.ts';
import type { Container } from './docker-container.ts';
import type { Command, ProcessResult, Runner, RunningProcess, RunOptions } from './runner.ts';

export interface Execution {
  runner: Runner;
  container: Container;
  image: string;
  command: Command;
  stopped: AbortSignal;
  onErrorLine: RunOptions['onErrorLine'];
  stdout: PassThrough;
}

/** Milliseconds between SIGTERM and SIGKILL. */
const FORCE_KILL_AFTER = 3000;
/** Milliseconds within which the end of a container becomes known after its process; fewer where that may have failed by itself. */
const END_IS_KNOWN_WITHIN = { unexpected: 2000, failed: 300 };

const PID_MARK = 'tool-pid ';
const ANNOUNCED = `echo "${PID_MARK}$$" >&2; exec "$@"`;

/** Exit codes of a shell that cannot start a program. */
const NOT_STARTED = new Set<number | null>([126, 127]);
/** A process that a signal ended has this plus the signal's number as exit code. */
const BY_SIGNAL = 128;

export function execute(execution: Execution): Pick<RunningProcess, 'stdin' | 'ended'> {
  const { runner, container, command, stopped, onErrorLine, stdout } = execution;
  const announced = Promise.withResolvers<number>();
  const child = runner.start(clientCommand(container, command), {
    onErrorLine(line) {
      if (line.startsWith(PID_MARK)) announced.resolve(Number(line.slice(PID_MARK.length)));
      else onErrorLine?.(line);
    },
  });
  child.stdout.pipe(stdout);
  const stopping = stopWhenAsked(child, { container, pid: announced.promise, stopped });
  const ended = Promise.all([child.ended, finished(stdout).catch(() => {})])
    .then(([completed]) => interpret(completed, execution))
    .finally(() => stopping[Symbol.dispose]());
  return { stdin: child.stdin, ended };
}

function clientCommand({ name, daemon }: Container, { file, args, env = {}, user }: Command): Command {
  return {
    file: daemon.program,
    args: [
      ...['exec', '--interactive'],
      ...(user ? ['--user', `${user.uid}:${user.gid}`] : []),
      // Values come from the client's environment: neither arguments nor the container's description contain them.
      ...Object.keys(env).flatMap((variable) => ['--env', variable]),
      ...[name, 'sh', '-c', ANNOUNCED, 'sh', file],
      ...(daemon.isVirtual ? args.map(fromInside) : args),
    ],
    env,
    // Ctrl-C in a terminal would end the client and leave the tool running.
    detached: true,
  };
}

interface StopRequest {
  container: Container;
  pid: Promise<number>;
  stopped: AbortSignal;
}

/** SIGTERM, then SIGKILL, then gives up: the tool ends with its container at the latest. */
function stopWhenAsked(client: RunningProcess, { container, pid, stopped }: StopRequest): Disposable {
  const timers: NodeJS.Timeout[] = [];
  const stop = (): void => {
    void pid.then((number) => {
      container.kill('TERM', number);
      timers.push(setTimeout(() => container.kill('KILL', number), FORCE_KILL_AFTER));
    });
    timers.push(setTimeout(() => client.kill(), 2 * FORCE_KILL_AFTER));
  };
  if (stopped.aborted) stop();
  else stopped.addEventListener('abort', stop, { once: true });
  return {
    [Symbol.dispose]() {
      stopped.removeEventListener('abort', stop);
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

async function interpret(
  { exitCode, stderr }: ProcessResult,
  { command: { file }, image, container, stopped }: Execution,
): Promise<ProcessResult> {
  const begun = stderr.startsWith(PID_MARK);
  const words = begun ? stderr.slice(stderr.indexOf('\n') + 1) : stderr;
  if (NOT_STARTED.has(exitCode)) throw notStarted({ file, image, words });
  const bySignal = exitCode === null || exitCode > BY_SIGNAL;
  // A client that loses its container may have the exit code of any failure.
  const end = bySignal || !begun ? 'unexpected' : 'failed';
  if (exitCode !== 0 && !stopped.aborted && (await endsWithin(container, END_IS_KNOWN_WITHIN[end])))
    throw lost({ file, image });
  return { exitCode: bySignal ? null : exitCode, stdout: '', stderr: words };
}

async function endsWithin(container: Container, timeoutMs: number): Promise<boolean> {
  const known = new AbortController();
  const deadline = wait(timeoutMs, undefined, { signal: known.signal }).catch(() => {});
  await Promise.race([container.ended, deadline]);
  known.abort();
  return container.hasEnded();
}

function notStarted({ file, image, words }: { file: string; image: string; words: string }): UserError {
  return new UserError('tool_not_started', `Cannot start ${file} in a container of ${image}`, {
    details: words.trim().split('\n'),
    hint: 'Check that the image contains it: tool config check',
  });
}

function lost({ file, image }: { file: string; image: string }): UserError {
  return new UserError('container_lost', `The container of ${image} ended while ${file} was running`, {
    hint: 'The container was removed, or Docker stopped. Run the command again.',
  });
}

const OUTSIDE = 'host.docker.internal';

const THIS_MACHINE = /^(localhost|127(\.\d+){3}|\[::1\]|::1)$/i;

/** Positions of hosts in arguments, between a prefix and a suffix. */
const PLACES = [/^([a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?)([^/?#]+)(.*)$/is, /^(--host=)([^/]+)()$/s];

export function fromInside(argument: string): string {
  for (const place of PLACES) {
    const [, before, hosts, after] = place.exec(argument) ?? [];
    if (hosts !== undefined) return `${before}${hosts.split(',').map(rename).join(',')}${after}`;
  }
  return argument;
}

function rename(host: string): string {
  if (THIS_MACHINE.test(host)) return OUTSIDE;
  const [, name = host, port = ''] = /^(\[[^\]]*\]|[^:]*)(:.*)?$/.exec(host) ?? [];
  return THIS_MACHINE.test(name) ? `${OUTSIDE}${port}` : host;
}
