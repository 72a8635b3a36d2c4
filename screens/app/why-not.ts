import { keyText } from '../../src/config/keys/keys-in-effect.ts';
import { snapshotsOf } from '../../src/state/snapshots.ts';
import { isUnconfigured, type KeyContext, type Model } from './model.ts';

// Why a command is disabled; `null` where it is not.

const READ_ONLY = 'Started with --read-only: nothing is changed';

export function notWritable({ model }: { model: Model }): string | null {
  return model.readOnly ? READ_ONLY : null;
}

export function notEditable({ model }: { model: Model }): string | null {
  return (
    notWritable({ model }) ??
    (isUnconfigured(model) ? `There is no configuration yet: press ${keyText('set_up')} to create one` : null)
  );
}

export function noTarget({ target }: Pick<KeyContext, 'target'>): string | null {
  return target ? null : 'No target is selected';
}

export function noSnapshot({ snapshot, target, model }: Omit<KeyContext, 'run' | 'route'>): string | null {
  if (snapshot) return null;
  const isRead = !target || snapshotsOf(model.snapshots.getState(), target.row.name).phase !== 'loading';
  return isRead ? `There is no snapshot yet: press ${keyText('build')} to build one` : 'The snapshots are being read';
}

export function notChangeable(context: Omit<KeyContext, 'run' | 'route'>): string | null {
  return notWritable(context) ?? noSnapshot(context);
}

export function notLoadable(context: KeyContext): string | null {
  return notChangeable(context) ?? noDestination(context);
}

/** Does not check for a snapshot, which may depend on a remote repository. */
export function latestNotLoadable(context: KeyContext): string | null {
  return notWritable(context) ?? notReadable(context);
}

/** For commands that only read the destination. */
export function notReadable(context: Pick<KeyContext, 'target'>): string | null {
  return noTarget(context) ?? noDestination(context);
}

function noDestination({ target }: Pick<KeyContext, 'target'>): string | null {
  return target && target.row.dst_url === null ? `${target.row.name} has no destination (snapshot.dst_url)` : null;
}
