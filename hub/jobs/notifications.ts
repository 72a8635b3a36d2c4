import type { Job } from 'pg-boss';
import { LOST, type Notice, notify, removeOldBuilds } from '../database/builds/builds.ts';
import { type BuildJob, LOST_BUILDS, NOTIFICATIONS, type Queue } from '../database/builds/queue.ts';
import { targetNames } from '../database/callers/tokens.ts';
import type { Database } from '../database/database.ts';
import {
  forgetOnTime,
  LATENESS_KINDS,
  type LatenessKind,
  type LateTarget,
  takeNewlyLate,
} from '../database/targets/late.ts';
import { targetWebhook } from '../database/targets/target-secrets.ts';
import type { Log } from '../log.ts';
import { sendNotification } from '../notifications/send.ts';
import { notificationBody } from '../notifications/text.ts';
import type { HubSettings } from '../settings/settings.ts';
import { type Periodic, startPeriodic } from './periodic.ts';

const MINUTE = 60_000;

export interface NotificationOptions {
  db: Database;
  queue: Queue;
  settings: HubSettings;
  log: Log;
  clock: () => Date;
}

/** Looks for late targets each minute, and sends queued notifications; the queue repeats those that fail. */
export async function startNotifications(options: NotificationOptions): Promise<Periodic> {
  const { queue, log } = options;
  const work = { pollingIntervalSeconds: Math.min(2, queue.times.notifyAgain / 2), batchSize: 1 };
  await queue.boss.work<Notice>(NOTIFICATIONS, work, ([job]) => deliver(options, job));
  await queue.boss.work<BuildJob>(LOST_BUILDS, work, ([job]) => reportLost(options, job));
  const failure = 'Cannot look for late targets; tried again';
  const late = startPeriodic(() => notifyLate(options), { everyMs: MINUTE, log, failure });
  late.wake();
  return late;
}

/** Queues a notification for each target that has become late; several instances queue one. */
export async function notifyLate({ db, queue, clock }: NotificationOptions): Promise<void> {
  const now = clock();
  for (const kind of LATENESS_KINDS) {
    await forgetOnTime(db, kind, now);
    await db.transaction().execute(async (transaction) => {
      const newlyLate = await takeNewlyLate(transaction, kind, now);
      for (const target of newlyLate) await notify(transaction, queue, lateNotice(kind, target));
    });
  }
  await removeOldBuilds(db);
}

function lateNotice(kind: LatenessKind, { id, name, every, last_at }: LateTarget): Notice {
  const of = { target_id: id, target: name };
  const at = last_at?.toISOString() ?? null;
  return kind === 'snapshot'
    ? { event: 'target.late', ...of, expected_every: every, newest_snapshot_at: at }
    : { event: 'target.restore_late', ...of, restore_expected_every: every, last_restored_at: at };
}

async function reportLost({ db, queue }: NotificationOptions, job: Job<BuildJob> | undefined): Promise<void> {
  const target_id = job?.data.target_id;
  const target = target_id && (await targetNames(db, [target_id])).get(target_id);
  if (target) await notify(db, queue, { event: 'build.failed', target_id, target, agent: null, ...LOST });
}

/** To the webhook of the target, or else of the hub. Throws when it fails: the queue repeats it. */
async function deliver({ db, settings, log, clock }: NotificationOptions, job: Job<Notice> | undefined): Promise<void> {
  if (!job) return;
  const { event, target, target_id } = job.data;
  const own = await targetWebhook(db, target_id, settings.keys);
  const webhook = own ?? settings.webhook;
  if (webhook === null) return;
  // Owners and the operator may name every address; members may not.
  const guard = own && !own.mayBePrivate ? { allowed: settings.webhookNetworks } : {};
  const now = clock();
  const body = notificationBody(job.data, { hub: settings.publicUrl, now });
  const fields = { event, target, delivery: job.id };
  try {
    await sendNotification(webhook, { id: job.id, body, now, ...guard });
    log.info('Notification sent', fields);
  } catch (error) {
    const reason = (error as Error).message.slice(0, 200);
    log.error('A notification was not sent; the queue repeats it a few times', { ...fields, reason });
    throw new Error('The notification was not sent');
  }
}
