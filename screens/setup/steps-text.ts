import type { NameWithSize } from '../../src/results/results.ts';
import { formatBytes } from '../../src/text/format.ts';
import { cellWidth, fitCells } from '../../src/text/text-width.ts';
import { projectDestination, proposedDestination, proposedName, sourceProfile } from './source-url.ts';
import {
  CONTAINER,
  lacksDatabase,
  type SetupState,
  type SetupStep,
  type SetupStepId,
  type SourceField,
} from './step.ts';
import { STORAGE_STEPS } from './storage-steps-text.ts';

const inVariables = ({ answers }: SetupState): boolean => answers.keep === 'variable';

/** The answer of the schemas question that goes on with the marked ones. */
export const GO_ON = '';

/** The answer of the git question that changes nothing. */
export const COMMIT = '';

/** Above the first question. */
export const WELCOME = 'Welcome to tool. Nothing is written before you have seen the file.';

/** The questions in order. Nothing is written before the last but one, which shows the file. */
export const SETUP_STEPS: SetupStep[] = [
  {
    id: 'file',
    kind: 'choice',
    about: () => ['Where to save the configuration.'],
    when: ({ config }) => config === undefined,
    options: () => [
      { label: './tool.yml (this folder only)', value: 'tool.yml' },
      { label: '~/.config/tool/tool.yml (every folder)', value: '~/.config/tool/tool.yml' },
    ],
  },
  {
    id: 'programs',
    kind: 'choice',
    about: (state) => {
      const { products = [], withoutPrograms } = sourceProfile(state) ?? {};
      return [`${products.join(', ')}: ${withoutPrograms?.advice}.`];
    },
    when: ({ found }) => found.programsFor !== null,
    options: (state) => [
      {
        label: `Run them in a container of ${sourceProfile(state)?.defaultImage}, by Docker or Podman`,
        value: CONTAINER,
      },
      { label: 'Look again, after installing them', value: 'installed' },
    ],
  },
  {
    id: 'url',
    kind: 'form',
    about: () => [
      'The source: the database of the snapshots. It is only read.',
      'Paste its URL, or fill in the fields. Without a database, those of the server are listed.',
      'Where to store the password is asked later.',
    ],
  },
  {
    id: 'database',
    kind: 'choice',
    about: () => ['Database to build snapshots of.'],
    when: lacksDatabase,
    options: ({ found }) =>
      found.databases.map((database) => ({ label: sized(database, found.databases), value: database.name })),
  },
  {
    id: 'target',
    kind: 'text',
    label: 'Name:',
    about: () => ['Name of the target, as in: tool build NAME'],
    initial: proposedName,
  },
  {
    id: 'schemas',
    kind: 'choice',
    about: () => ['Schemas to include in snapshots. Press Enter on a schema to exclude or include it.'],
    when: ({ found }) => (found.source?.schemas ?? []).some(({ name }) => name !== 'public'),
    options: ({ found, leftOut }) => {
      const schemas = found.source?.schemas ?? [];
      const some = `Continue with ${schemas.length - leftOut.length} of ${schemas.length} schemas`;
      return [
        { label: leftOut.length === 0 ? 'Continue with all schemas, including future ones' : some, value: GO_ON },
        ...schemas.map((schema) => ({
          label: `[${leftOut.includes(schema.name) ? ' ' : 'x'}] ${sized(schema, schemas)}`,
          value: schema.name,
        })),
      ];
    },
  },
  {
    id: 'destination',
    kind: 'text',
    label: 'Destination:',
    about: (state) => {
      const project = projectDestination(state);
      const example = `${state.found.source?.engine ?? 'postgres'}://user:password@localhost/database_dev`;
      const proposed = project ? `Found ${project.key} in ${project.file}.` : `Such as ${example}.`;
      return [
        'The database to load snapshots into. The first load creates it if required; each load replaces it.',
        `${proposed} Empty (Ctrl-U): decide later.`,
      ];
    },
    initial: proposedDestination,
    optional: true,
  },
  {
    id: 'keep',
    kind: 'choice',
    about: () => ['Where to store the password.'],
    when: ({ found }) => found.source?.hasPassword === true || found.destination?.hasPassword === true,
    options: () => [
      { label: 'Encrypted in the file', value: 'encrypted' },
      { label: 'In an environment variable', value: 'variable' },
    ],
  },
  {
    id: 'sourceVariable',
    kind: 'text',
    label: 'Variable:',
    about: () => ['The environment variable with the password of the source.'],
    when: (state) => inVariables(state) && state.found.source?.hasPassword === true,
    initial: ({ answers }) => `${inCapitals(answers.target)}_PASSWORD`,
  },
  {
    id: 'destinationVariable',
    kind: 'text',
    label: 'Variable:',
    about: () => ['The environment variable with the password of the destination.'],
    when: (state) => inVariables(state) && state.found.destination?.hasPassword === true,
    initial: ({ answers }) => `${inCapitals(answers.target)}_DESTINATION_PASSWORD`,
  },
  ...STORAGE_STEPS,
  {
    id: 'git',
    kind: 'choice',
    about: ({ found }) => [
      `${found.plan?.file ?? 'The file'} is in a git repository, and git does not ignore it.`,
      'Anyone with the file can decrypt its passwords, because it contains the secret_key.',
    ],
    when: ({ found }) => found.plan?.committed === true,
    options: () => [
      { label: 'Add it to .gitignore', value: 'ignore' },
      { label: 'Store the secret_key in the system keychain, not in the file', value: 'keychain' },
      { label: 'Change nothing', value: COMMIT },
    ],
  },
  {
    id: 'review',
    kind: 'review',
    about: ({ found, answers }) => [
      `${found.plan?.file ?? 'The file'}, to be written with Enter${found.plan?.committed && answers.git === 'ignore' ? ', and added to .gitignore' : ''}:`,
    ],
  },
  {
    id: 'done',
    kind: 'choice',
    about: ({ found }) => {
      const names = Object.keys(found.plan?.variables ?? {});
      const needed = [
        'This session has the password. Other sessions need:',
        ...names.map((name) => `export ${name}=…`),
      ];
      return [`Wrote ${found.plan?.file ?? 'the file'}.`, ...(names.length > 0 ? needed : [])];
    },
    options: ({ answers }) => [
      { label: `Build the first snapshot of ${answers.target} now`, value: 'build' },
      { label: 'Later: show the targets', value: 'later' },
    ],
  },
];

export function stepWithId(id: SetupStepId): SetupStep {
  const step = SETUP_STEPS.find((candidate) => candidate.id === id);
  if (!step) throw new Error(`there is no step ${id}`);
  return step;
}

/** The labels of the form's fields. */
export const FIELD_LABELS: Record<SourceField, string> = {
  url: 'URL:',
  scheme: 'Type:',
  host: 'Host:',
  port: 'Port:',
  user: 'User:',
  password: 'Password:',
  database: 'Database:',
};

/** The placeholder of an empty URL. */
export const URL_EXAMPLE = 'postgres://user:password@host:5432/database or mysql://…';

/** Beside the type of the server, which is not typed. */
export const TYPE_HINT = 'Space: the next type';

/** The questions that apply to the answers so far. */
export function stepsOf(state: SetupState): SetupStep[] {
  return SETUP_STEPS.filter(({ when }) => when?.(state) ?? true);
}

/** Aligns the sizes. */
function sized({ name, size_bytes }: NameWithSize, all: NameWithSize[]): string {
  const widest = Math.max(...all.map((other) => cellWidth(other.name)));
  return size_bytes === null ? name : `${fitCells(name, widest)}  ${formatBytes(size_bytes)}`;
}

function inCapitals(name = ''): string {
  return name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '_')
    .replace(/^(?=\d)/, '_');
}
