import type { KeyBinding } from '../app/key-binding.ts';
import { latestNotLoadable, noSnapshot, notLoadable, notWritable, READ_ONLY } from '../app/why-not.ts';

/** On a target: what one does many times a day, without opening it. */
export const LOAD_LATEST: KeyBinding = {
  keys: ['l'],
  action: 'load-latest',
  label: 'load latest',
  help: 'restore the newest snapshot into the destination; shows the plan and asks first',
  whyNot: latestNotLoadable,
};

/** What can be done with the selected snapshot. */
export const SNAPSHOT_KEYS: KeyBinding[] = [
  {
    keys: ['l', 'enter'],
    action: 'load',
    label: 'load',
    help: 'restore the snapshot into the destination; shows the plan and asks first',
    whyNot: notLoadable,
  },
  {
    keys: ['o', 'right'],
    action: 'open',
    label: 'tables',
    help: 'its tables and their sizes; some of them can be loaded',
    whyNot: noSnapshot,
  },
  {
    keys: ['m', 'space'],
    action: 'mark',
    label: 'mark',
    help: 'mark the snapshot, to compare it with another',
    whyNot: noSnapshot,
  },
  {
    keys: ['c'],
    action: 'compare',
    label: 'compare',
    help: 'what changed between two marked snapshots, the marked and this one, or this one and the live destination',
    whyNot: (facts) =>
      noSnapshot(facts) ??
      (facts.marked.length === 0 && facts.target?.row.dst_url === null
        ? 'Mark another snapshot first: there is no destination to compare with'
        : null),
  },
  {
    keys: ['v'],
    action: 'verify',
    label: 'verify',
    help: 're-read every byte of the snapshot against its checksums',
    whyNot: noSnapshot,
  },
  {
    keys: ['n'],
    action: 'note',
    label: 'note',
    help: 'write a note on the snapshot',
    whyNot: (facts) => (facts.readOnly ? READ_ONLY : noSnapshot(facts)),
  },
  {
    keys: ['p'],
    action: 'pull',
    label: 'pull',
    help: 'fetch the snapshot from the bucket: only what this machine lacks',
    whyNot: (facts) =>
      notWritable(facts) ??
      noSnapshot(facts) ??
      (facts.snapshot?.where.includes('local')
        ? 'It is on this machine already'
        : facts.snapshot?.where.includes('remote')
          ? null
          : 'It is not in a bucket'),
  },
  {
    keys: ['P'],
    action: 'push',
    label: 'push',
    help: 'copy the snapshot to the bucket: only what the bucket lacks',
    whyNot: (facts) =>
      notWritable(facts) ??
      noSnapshot(facts) ??
      (facts.target?.row.storage_profile === null
        ? `${facts.target.row.name} has no bucket (storage_profile)`
        : facts.snapshot?.where.includes('remote')
          ? 'It is in the bucket already'
          : null),
  },
  {
    keys: ['e'],
    action: 'export',
    label: 'export',
    help: 'write the snapshot to one file, to hand it over without a bucket',
    whyNot: (facts) => (facts.readOnly ? READ_ONLY : noSnapshot(facts)),
  },
  {
    keys: ['d', 'delete'],
    action: 'remove',
    label: 'remove',
    help: 'remove the snapshot; asks first',
    whyNot: (facts) => notWritable(facts) ?? noSnapshot(facts),
  },
];
