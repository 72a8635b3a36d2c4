import type { CommandSpec, OptionSpec } from '../cli/command.ts';
import { ALLOW_UNTRUSTED, DRY_RUN, ORIGINAL, SNAPSHOT, TARGET } from './shared-options.ts';

const PLACES: OptionSpec[] = [
  { flags: '--local', description: 'on this machine only' },
  { flags: '--remote', description: 'in the bucket only' },
];

/** What is done with snapshots once they are taken, in the order of the help. */
export const KEEPING_COMMANDS: CommandSpec[] = [
  {
    name: 'push',
    summary: 'copy a snapshot to the bucket of its storage profile, only what is lacking there',
    group: 'Keep and share',
    arguments: [TARGET, SNAPSHOT],
    options: [ORIGINAL],
    examples: [
      { command: 'tool push app', does: 'the newest snapshot of "app"; again after an interruption, the rest' },
    ],
    json: 'events',
    writes: true,
    load: () => import('./push.ts'),
  },
  {
    name: 'pull',
    summary: 'copy a snapshot from the bucket to this machine, only what is lacking here',
    group: 'Keep and share',
    arguments: [TARGET, SNAPSHOT],
    options: [ORIGINAL, ALLOW_UNTRUSTED],
    examples: [{ command: 'tool pull app 2', does: 'the third newest snapshot of "app"; load pulls by itself' }],
    json: 'events',
    writes: true,
    load: () => import('./pull.ts'),
  },
  {
    name: 'diff',
    summary: 'what changed between two snapshots, or between a snapshot and the destination as it is now',
    group: 'Keep and share',
    arguments: [
      TARGET,
      { name: 'a', description: 'index or id of a snapshot', required: true, complete: 'snapshot' },
      {
        name: 'b',
        description: 'index or id of another one; default: the destination, compared by the rows of its tables',
        required: false,
        complete: 'snapshot',
      },
    ],
    options: [ORIGINAL],
    examples: [
      { command: 'tool diff app 1 0', does: 'what the newest snapshot has, and the one before had not' },
      { command: 'tool diff app 0', does: 'how far the destination has moved since' },
    ],
    json: 'document',
    load: () => import('./diff.ts'),
  },
  {
    name: 'export',
    summary: 'write a snapshot to one file, to hand it over without a bucket',
    group: 'Keep and share',
    arguments: [TARGET, SNAPSHOT],
    options: [
      { flags: '-o, --output <file>', description: 'the file to write; default: TARGET-SNAPSHOT.zip, here' },
      { ...ORIGINAL, flags: '--original' },
    ],
    examples: [{ command: 'tool export app 0 -o app.zip', does: 'the newest snapshot of "app", as a plain zip' }],
    json: 'events',
    load: () => import('./export.ts'),
  },
  {
    name: 'import',
    summary: 'take a snapshot in that was exported',
    group: 'Keep and share',
    arguments: [{ name: 'file', description: 'what tool export has written', required: true }],
    options: [
      { flags: '--target <name>', description: 'the target that it becomes a snapshot of; default: as it was' },
      ALLOW_UNTRUSTED,
    ],
    examples: [{ command: 'tool import app.zip', does: 'a snapshot as if it had been taken here' }],
    json: 'events',
    writes: true,
    load: () => import('./import.ts'),
  },
  {
    name: 'verify',
    summary: 're-read every byte of a snapshot against its checksums',
    group: 'Keep and share',
    arguments: [TARGET, SNAPSHOT],
    options: [
      { flags: '--remote', description: 'what is in the bucket, even where the snapshot is on this machine too' },
      {
        flags: '--sample <percent>',
        description: 'only so many of its objects, chosen at random',
        value: 'percentage',
      },
      {
        flags: '--repair',
        description: 'replace damaged objects by those of the bucket, or with --remote of this machine',
      },
      ORIGINAL,
    ],
    examples: [
      { command: 'tool verify app 1', does: 'the second newest snapshot of "app"' },
      { command: 'tool verify app --remote --sample 10%', does: 'a tenth of the newest, fetched from the bucket' },
    ],
    json: 'events',
    writes: { option: 'repair' },
    load: () => import('./verify.ts'),
  },
  {
    name: 'rm',
    summary: 'remove a snapshot, and the space that no other snapshot needs',
    group: 'Keep and share',
    arguments: [TARGET, { ...SNAPSHOT, description: 'index (0 is the newest) or id of the snapshot', required: true }],
    options: [...PLACES, DRY_RUN],
    examples: [
      { command: 'tool rm app 3', does: 'removes the fourth newest snapshot of "app"' },
      { command: 'tool rm app 3 --local', does: 'the same on this machine only: the bucket keeps it' },
    ],
    json: 'events',
    writes: true,
    load: () => import('./rm.ts'),
  },
  {
    name: 'prune',
    summary: 'remove the snapshots that no rule keeps, and the space that none of the others needs',
    group: 'Keep and share',
    arguments: [{ ...TARGET, description: 'name of a target; default: every target', required: false }],
    options: [
      { flags: '--keep-last <n>', description: 'keep so many of the newest', value: 'count' },
      { flags: '--keep-within <age>', description: 'keep those younger than 12h, 30d, 8w, 6m, 1y', value: 'duration' },
      {
        flags: '--keep-daily <n>',
        description: 'keep the newest of each of the last n days that have any',
        value: 'count',
      },
      { flags: '--keep-weekly <n>', description: 'the same by weeks', value: 'count' },
      { flags: '--keep-monthly <n>', description: 'the same by months', value: 'count' },
      ...PLACES,
      DRY_RUN,
    ],
    examples: [
      { command: 'tool prune --keep-last 5 --keep-within 30d --dry-run', does: 'what would go, of every target' },
      {
        command: 'tool prune app --keep-daily 7 --keep-weekly 4',
        does: 'a week of days and a month of weeks of "app"',
      },
    ],
    json: 'events',
    writes: true,
    load: () => import('./prune.ts'),
  },
];
