import { ERRORS, type ErrorCode } from './error-codes.ts';

/** Documented in docs/commands.md. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  configuration: 3,
  unreachable: 4,
  refused: 5,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

interface UserErrorOptions {
  /** Default: the exit code of the table. */
  exit?: ExitCode;
  hint?: string | null | undefined;
  details?: string[];
  cause?: unknown;
}

/** An error that a person can act on: what failed, on what, why, and what to do next. Shown without a stack. */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly code: ErrorCode;
  readonly exit: ExitCode;
  readonly hint: string | undefined;
  readonly details: string[];

  constructor(
    code: ErrorCode,
    message: string,
    { exit = exitOf(code), hint, details = [], cause }: UserErrorOptions = {},
  ) {
    super(boundText(message), { cause });
    this.code = code;
    this.exit = exit;
    this.hint = hint == null ? undefined : boundText(hint);
    const more = details.length - MOST_DETAILS;
    this.details = [...details.slice(0, MOST_DETAILS), ...(more > 0 ? [`and ${more} more`] : [])].map(boundText);
  }
}

function exitOf(code: ErrorCode): ExitCode {
  const names = Object.keys(ERRORS) as (keyof typeof ERRORS)[];
  return EXIT[names.find((name) => Object.hasOwn(ERRORS[name], code)) ?? 'failed'];
}

const MOST_DETAILS = 100;
/** Characters of one message; names in it come from databases, which may have very many. */
const MOST_CHARACTERS = 4000;

/** Returns the text, or its beginning with the number of the characters that are left out. */
export function boundText(text: string): string {
  if (text.length <= MOST_CHARACTERS) return text;
  return `${text.slice(0, MOST_CHARACTERS)}… (${text.length - MOST_CHARACTERS} more characters)`;
}

export function interrupted(exit: 130 | 143 = EXIT.interrupted): UserError {
  return new UserError('interrupted', 'Interrupted', { exit });
}

/** Adds to an interruption what it has left; other errors, and one that states it, are returned as they are. */
export function withOutcome(error: unknown, outcome: string): unknown {
  if (!(error instanceof UserError && error.code === 'interrupted') || error.hint !== undefined) return error;
  return new UserError('interrupted', error.message, { exit: error.exit, hint: outcome, cause: error });
}

interface Lack {
  what: string;
  code: ErrorCode;
  hint: string;
}

const DISK_FULL: Lack = {
  what: 'No space left on a disk of this machine',
  code: 'disk_full',
  hint: 'Free space in working_directory and in the folder of temporary files (TMPDIR). Then run the command again.',
};
const TOO_MANY_FILES: Lack = {
  what: 'Too many open files',
  code: 'too_many_open_files',
  hint: 'Raise the limit: ulimit -n 1024. Then run the command again.',
};

const NO_MEMORY: Lack = {
  what: 'No memory for another program or thread',
  code: 'out_of_memory',
  hint: 'Free memory, or raise the limits (ulimit -v, ulimit -d, ulimit -u). Then run the command again.',
};

const FORBIDDEN: Lack = {
  what: 'A file or folder of this machine cannot be read or written',
  code: 'file_forbidden',
  hint: 'Permit it, or choose another folder: working_directory of the configuration, TMPDIR, HOME.',
};

/** Conditions of a machine that can occur at any time, by the code of the system error. */
const LACKS: Record<string, Lack | undefined> = {
  ENOSPC: DISK_FULL,
  EDQUOT: DISK_FULL,
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EROFS: FORBIDDEN,
  EMFILE: TOO_MANY_FILES,
  ENFILE: TOO_MANY_FILES,
  ENOMEM: NO_MEMORY,
  EAGAIN: NO_MEMORY,
  ERR_WORKER_INIT_FAILED: NO_MEMORY,
  ERR_WORKER_OUT_OF_MEMORY: NO_MEMORY,
  EFBIG: {
    what: 'A file is larger than this process may write',
    code: 'file_too_large',
    hint: 'Raise the limit (ulimit -f unlimited), or choose a file system for larger files.',
  },
};

export function toUserError(thrown: unknown): UserError {
  if (thrown instanceof UserError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const lack = LACKS[(thrown as NodeJS.ErrnoException | null)?.code ?? ''];
  if (lack) {
    const { what, code, hint } = lack;
    return new UserError(code, what, { details: [message], hint, cause: thrown });
  }
  return new UserError('unexpected', message, {
    hint: 'This is a defect of the tool. Run again with --debug and report what it prints.',
    cause: thrown,
  });
}
