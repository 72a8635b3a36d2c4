import { BlockList } from 'node:net';
import type { QueueTimes } from '../../../hub/database/builds/queue.ts';
import { openDatabase } from '../../../hub/database/database.ts';
import { targetsToSweep } from '../../../hub/database/snapshots/sweeps.ts';
import { startRemovals } from '../../../hub/jobs/removals.ts';
import { sweepDue } from '../../../hub/jobs/sweeps.ts';
import { createLog } from '../../../hub/log.ts';
import { createBuckets } from '../../../hub/objects/buckets.ts';
import { serve } from '../../../hub/serve.ts';
import { keyOf } from '../../../hub/settings/parse-values.ts';
import { GITHUB_ISSUER, GITLAB_ISSUER } from '../../../hub/settings/settings.ts';

// An instance of the hub as a process of its own, which a test kills. It is told what to do by messages.

export interface InstanceOptions {
  databaseUrl: string;
  key: string;
  queueTimes?: QueueTimes;
}

/** Removes what is to be removed, and sweeps with a clock that is ahead by so many hours. */
export interface SweepMessage {
  hours: number;
}

const { databaseUrl, key, queueTimes } = JSON.parse(process.argv[2] ?? '') as InstanceOptions;
const keys = [keyOf(Buffer.from(key, 'hex'))];
const { signal } = new AbortController();
const { db } = openDatabase(databaseUrl);
const buckets = createBuckets(db, keys);
const failures: string[] = [];
const log = createLog({
  write(line) {
    process.stderr.write(line);
    if (line.includes('"level":"error"')) failures.push(line);
  },
  clock: () => new Date(),
});

process.on('message', async ({ hours }: SweepMessage) => {
  const clock = () => new Date(Date.now() + hours * 3_600_000);
  failures.length = 0;
  try {
    await using removals = startRemovals({ db, buckets, log });
    await removals.settled();
    const removed = db.selectFrom('snapshots').select('id').where('removed_at', 'is not', null);
    // Another instance may be at it, whose bucket takes its time: its objects are referenced until then.
    for (const { id } of await removed.execute()) failures.push(`${id} is being removed`);
    await sweepDue({ db, buckets, trustedKeys: null, log, clock }, signal);
    // A failure is logged and tried again later; a target that another instance sweeps is left to it.
    const left = await targetsToSweep(db, new Date(clock().getTime() - 3_600_000));
    const failed = [...failures, ...left.map(({ name }) => `${name} was not swept`)].join('');
    process.send?.({ swept: hours, ...(failed && { failed }) });
  } catch (error) {
    process.send?.({ swept: hours, failed: String(error) });
  }
});
process.on('disconnect', () => process.exit());

await serve({
  settings: {
    ...{ databaseUrl, keys, listen: { host: '127.0.0.1', port: 0 }, metricsListen: null },
    ...{ publicUrl: 'https://hub.example.com', trustedProxies: new BlockList(), signIn: null, pages: null },
    ...{ trustedKeys: null, ownerGroups: ['owners'], memberGroups: ['developers'], auditorGroups: ['auditors'] },
    ...{ github: { issuer: GITHUB_ISSUER, rules: [] }, webhook: null, webhookNetworks: new BlockList() },
    gitlab: { issuer: GITLAB_ISSUER, rules: [] },
  },
  dev: false,
  version: '0.1.0',
  write: () => {},
  signal,
  clock: () => new Date(),
  limits: { requests: { perSecond: 1e6, burst: 1e6 }, refusedSignIns: 1e6 },
  queueTimes,
  ready: ({ url }) => void process.send?.({ url }),
});
