import type { Context } from '../../runtime/context.ts';
import { toUserError } from '../../runtime/errors.ts';
import { openCloud } from './open-cloud.ts';

/** Reports a proved restore to the hub of the target. A failure is a warning: the proof stands. */
export async function reportRestore(
  context: Context,
  { target, snapshot }: { target: string; snapshot: string },
): Promise<void> {
  const { configuration, report, signal } = context;
  // Readers prove snapshots for themselves.
  if (configuration.cloud?.get(target)?.permissions.includes('push') === false) return;
  try {
    const client = await openCloud(context, { listing: true });
    await client.call('reportRestore', { parameters: { name: target, snapshot }, body: {} });
  } catch (thrown) {
    signal.throwIfAborted();
    const { code, message } = toUserError(thrown);
    // It was not pushed.
    if (code === 'snapshot_unknown') return;
    report({
      event: 'warning',
      code: 'restore_not_reported',
      message: `Could not report the proved restore to the hub: ${message}`,
    });
  }
}
