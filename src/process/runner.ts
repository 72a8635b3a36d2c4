import type { Readable, Writable } from 'node:stream';

/** A file or folder of this machine that a tool reads, or that it also writes. */
export interface Mount {
  path: string;
  writable?: true;
  /** Not mounted where it is a folder: a path from outside must not open one. */
  fileOnly?: true;
}

/** What to run: an engine says it, a runner says where. */
export interface Command {
  file: string;
  /**
   * Never a secret: arguments are seen by every user of the machine. Hosts stand in them as connection URLs or as
   * `--host=NAME`, which a runner elsewhere writes as they are called from there.
   */
  args: string[];
  /** Absolute paths in `args` and in `env`; a runner elsewhere has them at the same place. */
  mounts?: Mount[];
  /** Added to the runner's own environment; may hold secrets. */
  env?: Record<string, string>;
  /** Runs as somebody else: servers refuse root. */
  user?: { uid: number; gid: number };
  /** In a session of its own: neither our end nor a signal to our process group ends it. */
  detached?: true;
}

export interface RunOptions {
  signal?: AbortSignal | undefined;
  /** Given to the child whole, then end of file. */
  input?: string;
  /** Called for every line of standard error as it comes. */
  onErrorLine?: (line: string) => void;
}

export interface Completed {
  /** `null` when a signal ended it. */
  exitCode: number | null;
  stdout: string;
  /** The last part of it, bounded. */
  stderr: string;
}

/** A child that goes on while it is spoken to. */
export interface RunningProcess {
  stdin: Writable;
  stdout: Readable;
  /** Resolves when the child has ended; never rejects for an exit code. */
  ended: Promise<Completed>;
  kill(): void;
  /** Lets our process end while this one goes on. */
  unref(): void;
}

/** Where tools run: this machine, or a container. */
export interface Runner {
  id: 'local' | 'docker';
  /** Runs to the end. Rejects only when the program cannot be started or the signal was aborted. */
  run(command: Command, options?: RunOptions): Promise<Completed>;
  start(command: Command, options?: RunOptions): RunningProcess;
}
