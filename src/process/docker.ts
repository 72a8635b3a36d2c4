import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { execute } from './docker-exec.ts';
import { containerPool, type PoolOptions } from './docker-pool.ts';
import type { Command, ProcessResult, Runner, RunningProcess, RunOptions } from './runner.ts';
import { unlessAborted } from './unless-aborted.ts';

export interface DockerRunnerOptions extends PoolOptions {
  /** Added to every command's environment; may contain secrets. */
  env: Record<string, string>;
}

type StartResult = ReturnType<typeof execute>;

/** Runs tools in containers of an image, many in one: starting one takes up to a second. */
export function dockerRunner({ env, ...options }: DockerRunnerOptions): Runner {
  const { runner, image } = options;
  const take = containerPool(options);

  function start(command: Command, { signal, input, onErrorLine }: RunOptions = {}): RunningProcess {
    signal?.throwIfAborted();
    const killed = new AbortController();
    const stopped = signal ? AbortSignal.any([signal, killed.signal]) : killed.signal;
    const stdout = new PassThrough();

    async function begin(): Promise<StartResult> {
      const taking = take(command.mounts ?? []);
      const { container, release } = await unlessAborted(taking, stopped).catch((thrown) => {
        taking.then((late) => late.release()).catch(() => {});
        throw thrown;
      });
      const placed = { ...command, env: { ...env, ...command.env } };
      const started = execute({ runner, container, image, command: placed, stopped, onErrorLine, stdout });
      started.ended.then(release, release);
      return started;
    }

    async function finish(): Promise<ProcessResult> {
      try {
        return await (await starting).ended;
      } catch (thrown) {
        signal?.throwIfAborted();
        if (thrown === killed.signal.reason) return { exitCode: null, stdout: '', stderr: '' };
        throw thrown;
      } finally {
        stdout.end();
        signal?.throwIfAborted();
      }
    }

    const starting = begin();
    const stdin = inputOf(starting);
    if (input !== undefined) stdin.end(input);
    const ended = finish();
    // It may reject before it is awaited.
    ended.catch(() => {});
    return { stdin, stdout, ended, kill: () => killed.abort(), unref: () => {} };
  }

  return {
    id: 'docker',
    start,
    async run(command, { input = '', ...given } = {}) {
      const child = start(command, { ...given, input });
      child.stdin.on('error', () => {});
      const [completed, stdout] = await Promise.all([child.ended, text(child.stdout)]);
      return { ...completed, stdout };
    },
  };
}

/** Input for the tool. A chunk's memory is released when the client has read it. */
function inputOf(starting: Promise<StartResult>): Writable {
  return new Writable({
    write(part, _encoding, done) {
      starting.then(({ stdin }) => stdin.write(part, done), done);
    },
    final(done) {
      starting.then(
        ({ stdin }) => stdin.end(done),
        () => done(),
      );
    },
  });
}
