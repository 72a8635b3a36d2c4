import type { Readable, Writable } from 'node:stream';

/** What to run: an engine says it, a runner says where. */
export interface Command {
  file: string;
  /** Never a secret: arguments are seen by every user of the machine. */
  args: string[];
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
}

/** Where tools run: this machine, later a container. */
export interface Runner {
  id: string;
  /** Runs to the end. Rejects only when the program cannot be started or the signal was aborted. */
  run(command: Command, options?: RunOptions): Promise<Completed>;
  start(command: Command, options?: RunOptions): RunningProcess;
}
