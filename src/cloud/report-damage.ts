import { setTimeout as wait } from 'node:timers/promises';
import type { DamageVerdict } from '../repository/remote-repository.ts';
import type { CloudClient } from './client.ts';
import { MOST_OBJECTS } from './contract/transfers.ts';

export interface DamageReportOptions {
  client: CloudClient;
  target: string;
  snapshot: string;
  sha256s: string[];
  /** Ends when the hub has checked the objects. */
  wait: boolean;
  signal: AbortSignal;
}

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5000;
const LONGEST_CHECK_MS = 10 * 60_000;

/** Reports damaged objects of a snapshot to the hub, which checks them. Returns its verdict on each. */
export async function reportDamageToHub(options: DamageReportOptions): Promise<Map<string, DamageVerdict>> {
  const { signal, sha256s } = options;
  const began = performance.now();
  const verdicts = await reportOnce(options, sha256s);
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const checking = sha256s.filter((sha256) => verdicts.get(sha256) === 'checking');
    if (!options.wait || checking.length === 0 || performance.now() - began > LONGEST_CHECK_MS) return verdicts;
    await wait(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
    for (const [sha256, verdict] of await reportOnce(options, checking)) verdicts.set(sha256, verdict);
  }
}

async function reportOnce(
  { client, target, snapshot }: DamageReportOptions,
  sha256s: string[],
): Promise<Map<string, DamageVerdict>> {
  const verdicts = new Map<string, DamageVerdict>();
  const parameters = { name: target, snapshot };
  for (let start = 0; start < sha256s.length; start += MOST_OBJECTS) {
    const objects = sha256s.slice(start, start + MOST_OBJECTS);
    const { body } = await client.call('reportObjects', { parameters, body: { objects } });
    for (const { sha256, answer } of body?.objects ?? []) verdicts.set(sha256, answer);
  }
  return verdicts;
}
