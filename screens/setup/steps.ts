import type { SetUp } from '../../src/operations/set-up.ts';

/** A question of the wizard. */
export interface SetupStep {
  answer: keyof SetUp;
  label: string;
  about: string[];
  optional?: boolean;
}

/** The questions in their order; after the last one the file is shown. */
export const SETUP_STEPS: SetupStep[] = [
  {
    answer: 'file',
    label: 'File:',
    about: [
      'Where to save the configuration.',
      'tool.yml is found in this folder; ~/.config/tool/tool.yml from everywhere.',
    ],
  },
  {
    answer: 'target',
    label: 'Name:',
    about: ['What to call the target: a database to take snapshots of.', 'Commands use the name: tool build NAME'],
  },
  {
    answer: 'source',
    label: 'Source:',
    about: [
      'The connection URL of the database to take snapshots of. It is tried now, and never written to.',
      'Such as postgres://user:password@host:5432/database. The password is encrypted in the file.',
    ],
  },
  {
    answer: 'destination',
    label: 'Destination:',
    about: [
      'The database to load snapshots into: it is replaced by each load, and created where it is not there.',
      'Such as postgres://localhost:5432/database_dev. Leave it empty to say so later.',
    ],
    optional: true,
  },
];
