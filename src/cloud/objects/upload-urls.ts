import { setTimeout as wait } from 'node:timers/promises';
import { UserError } from '../../runtime/errors.ts';
import type { CloudClient } from '../client.ts';
import { MOST_OBJECTS, type Uploads } from '../contract/transfers.ts';

/** A file as it is sent. */
export interface OutgoingObject {
  sha256: string;
  stored_sha256: string;
  stored_bytes: number;
  /** Id of an upload in parts that has begun. */
  upload_id?: string | undefined;
  from_part?: number | undefined;
}

export type UploadAnswer = Exclude<Uploads['objects'][number], { answer: 'present' | 'busy' }>;

/** Signed URLs for uploads, requested in batches and renewed before they expire. */
export interface UploadUrls {
  /** The stored ones of these objects. */
  present(objects: OutgoingObject[]): Promise<Set<string>>;
  /** `null` when the hub has the object. Waits while the object is being removed. */
  find(object: OutgoingObject): Promise<UploadAnswer | null>;
  /** Drops a rejected URL. */
  forget(sha256: string): void;
}

/** A URL is valid for 15 minutes, which include the transfer. */
const REUSE_MS = 10 * 60_000;

const LONGEST_BUSY_MS = 10 * 60_000;
const LONGEST_PAUSE_MS = 60_000;

export interface UploadUrlsOptions {
  client: CloudClient;
  target: string;
  sanitized: boolean;
  signal: AbortSignal;
}

export function createUploadUrls({ client, target, sanitized, signal }: UploadUrlsOptions): UploadUrls {
  const answers = new Map<string, { answer: Uploads['objects'][number]; asked: OutgoingObject; at: number }>();

  async function ask(objects: OutgoingObject[]): Promise<void> {
    for (let start = 0; start < objects.length; start += MOST_OBJECTS) {
      const asked = objects.slice(start, start + MOST_OBJECTS);
      const request = { parameters: { name: target }, body: { sanitized, objects: asked.map(withoutUndefined) } };
      const { body } = await client.call('requestUploads', request);
      const byHash = new Map(body?.objects.map((answer) => [answer.sha256, answer]));
      for (const object of asked) {
        const answer = byHash.get(object.sha256);
        if (!answer) throw client.invalid('the response lacks an object');
        answers.set(object.sha256, { answer, asked: object, at: performance.now() });
      }
    }
  }

  function known(object: OutgoingObject): Uploads['objects'][number] | null {
    const found = answers.get(object.sha256);
    if (!found || performance.now() - found.at > REUSE_MS || !isSame(found.asked, object)) return null;
    return found.answer;
  }

  async function askAgain(object: OutgoingObject): Promise<Uploads['objects'][number]> {
    await ask([object, ...stale(answers, object)]);
    const answered = answers.get(object.sha256)?.answer;
    if (!answered) throw client.invalid('the response lacks an object');
    return answered;
  }

  return {
    async present(objects) {
      answers.clear();
      await ask(objects);
      const present = [...answers].filter(([, { answer }]) => answer.answer === 'present');
      return new Set(present.map(([sha256]) => sha256));
    },

    async find(object) {
      const began = performance.now();
      while (true) {
        const answer = known(object) ?? (await askAgain(object));
        if (answer.answer === 'present') return null;
        if (answer.answer !== 'busy') return answer;
        answers.delete(object.sha256);
        if (performance.now() - began > LONGEST_BUSY_MS) throw busy(target);
        const pause = Math.min(answer.retry_after * 1000, LONGEST_PAUSE_MS);
        await wait(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    },

    forget: (sha256) => void answers.delete(sha256),
  };
}

function isSame(one: OutgoingObject, other: OutgoingObject): boolean {
  return (['stored_sha256', 'stored_bytes', 'upload_id', 'from_part'] as const).every((key) => one[key] === other[key]);
}

/** Further objects with an expired URL. */
function stale(
  answers: Map<string, { answer: Uploads['objects'][number]; asked: OutgoingObject; at: number }>,
  object: OutgoingObject,
): OutgoingObject[] {
  const old = [...answers.values()].filter(
    ({ answer, asked, at }) =>
      answer.answer === 'upload' && asked.sha256 !== object.sha256 && performance.now() - at > REUSE_MS,
  );
  return old.slice(0, MOST_OBJECTS - 1).map(({ asked }) => asked);
}

function withoutUndefined({ upload_id, from_part, ...object }: OutgoingObject) {
  return { ...object, ...(upload_id !== undefined && { upload_id }), ...(from_part !== undefined && { from_part }) };
}

function busy(target: string): UserError {
  return new UserError('storage_busy', `Timed out: the hub is still removing an object of target "${target}"`, {
    hint: 'Try again in some minutes.',
  });
}
