import { attemptsFor, isMissing, storageError } from '../../repository/s3/errors.ts';
import { retry } from '../../repository/s3/retry.ts';
import { TooLarge } from '../../repository/store/store.ts';
import { UserError } from '../../runtime/errors.ts';
import { printable } from '../../text/printable.ts';

/** Bytes of an error's text; the rest is not read. */
export const MOST_ERROR_BYTES = 64 * 1024;

/** The error of a response, named by its code as the errors of the S3 client are. */
export function bucketRefusal(status: number, body: string): Error {
  const name = /<Code>([A-Za-z0-9]{1,100})<\/Code>/.exec(body)?.[1] ?? `Status ${status}`;
  const message = printable(/<Message>([^<]{1,300})<\/Message>/.exec(body)?.[1] ?? name);
  return Object.assign(new Error(message), { name, $metadata: { httpStatusCode: status } });
}

export function statusOf(error: unknown): number | null {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode ?? null;
}

/** Sends a request with a signed URL and retries temporary errors. A rejected URL may have expired. */
export async function queryBucket<Answer>(
  request: (options: { abortSignal: AbortSignal }) => Promise<Answer>,
  { name, signal }: { name: string; signal: AbortSignal },
): Promise<Answer> {
  try {
    return await retry(() => request({ abortSignal: signal }), { signal, attempts });
  } catch (error) {
    signal.throwIfAborted();
    const isMeant = isMissing(error) || error instanceof UserError || error instanceof TooLarge;
    throw isMeant || isForCaller(error) ? error : bucketError(error, name);
  }
}

const ATTEMPTS_AT_REFUSED = 3;

function attempts(error: unknown): number {
  const status = statusOf(error);
  if (status === 400 || status === 403) return ATTEMPTS_AT_REFUSED;
  if (status !== null && status < 500 && status !== 408 && status !== 429) return 1;
  return attemptsFor(error);
}

/** The object exists already, or the error is local: a missing or changed file. */
function isForCaller(error: unknown): boolean {
  const { code, name } = error as NodeJS.ErrnoException;
  return statusOf(error) === 412 || code === 'ENOENT' || name === 'ContentDiffers';
}

function bucketError(error: unknown, name: string): UserError {
  const { code, message } = storageError({ error, profile: name, bucket: `the bucket of ${name}`, access: 'read' });
  const isRefused = statusOf(error) === 403;
  const refusal = `The bucket of ${name} rejected a URL signed by the hub: ${(error as Error).message}`;
  return new UserError(code, isRefused ? refusal : message, {
    hint: 'Check the network and the clock of this machine. If both are right, ask an owner of the hub to check the storage profile.',
    cause: error,
  });
}
