import type { CloudClient } from '../client.ts';

export interface SentObject {
  sha256: string;
  /** Id of an upload in parts: the hub completes it. */
  upload_id?: string;
  etags?: string[];
}

export type ObjectVerdict = 'stored' | 'missing' | 'differs';

/** Has the hub verify sent objects. Objects that wait for a request share the next one. */
export type Verify = (object: SentObject) => Promise<ObjectVerdict>;

const MOST_OBJECTS = 50;

/** Limit of one request, because its body is bounded. */
const MOST_ETAGS = 5000;

interface QueuedObject {
  object: SentObject;
  resolve: (verdict: ObjectVerdict) => void;
  reject: (error: unknown) => void;
}

export function createVerifier(
  client: CloudClient,
  { target, sanitized }: { target: string; sanitized: boolean },
): Verify {
  let waiting: QueuedObject[] = [];
  let isRunning = false;

  function nextBatch(): QueuedObject[] {
    let etags = 0;
    const fits = ({ object }: QueuedObject, index: number): boolean => {
      etags += object.etags?.length ?? 0;
      return index < MOST_OBJECTS && (index === 0 || etags <= MOST_ETAGS);
    };
    const count = waiting.findIndex((one, index) => !fits(one, index));
    const batch = count === -1 ? waiting : waiting.slice(0, count);
    waiting = waiting.slice(batch.length);
    return batch;
  }

  async function run(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      const batch = nextBatch();
      try {
        const body = { sanitized, objects: batch.map(({ object }) => object) };
        const { body: answer } = await client.call('verifyUploads', { parameters: { name: target }, body });
        const verdicts = new Map(answer?.objects.map((object) => [object.sha256, object.answer]));
        for (const { object, resolve, reject } of batch) {
          const verdict = verdicts.get(object.sha256);
          if (verdict) resolve(verdict);
          else reject(client.invalid('the response lacks an object'));
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isRunning = false;
  }

  return (object) => {
    const { promise, resolve, reject } = Promise.withResolvers<ObjectVerdict>();
    waiting.push({ object, resolve, reject });
    if (!isRunning) void run();
    return promise;
  };
}
