import { ENGINE_PROFILES, profileOfScheme } from '../../src/engines/list.ts';
import type { Sized } from '../../src/results/results.ts';
import { formatBytes } from '../../src/text/format.ts';
import { cellWidth, fitCells } from '../../src/text/text-width.ts';
import { lacksDatabase } from './answers.ts';
import type { SetupRoute } from './setup-route.ts';
import type { SetupStep } from './step.ts';
import type { SetupStepId } from './step-ids.ts';
import { STORAGE_STEPS } from './storage-steps.ts';

const byFields = ({ answers }: SetupRoute): boolean => answers.how === 'fields';
const inVariables = ({ answers }: SetupRoute): boolean => answers.keep === 'variable';

/** The answer of the schemas question that goes on with the marked ones. */
export const GO_ON = '';

/** The questions in order. Nothing is written before the last but one, which shows the file. */
export const SETUP_STEPS: SetupStep[] = [
  {
    id: 'file',
    kind: 'choice',
    about: () => ['Where to save the configuration.'],
    when: ({ config }) => config === undefined,
    options: () => [
      { label: 'In this folder: ./tool.yml, which is read here alone', value: 'tool.yml' },
      { label: 'For everywhere: ~/.config/tool/tool.yml', value: '~/.config/tool/tool.yml' },
    ],
  },
  {
    id: 'target',
    kind: 'text',
    label: 'Name:',
    about: () => ['What to call the target, a database to take snapshots of: tool build NAME'],
    initial: () => 'app',
  },
  {
    id: 'how',
    kind: 'choice',
    about: () => ['The source: the database to take snapshots of. It is tried, and never written to.'],
    options: () => [
      { label: 'Type or paste its connection URL', value: 'url' },
      { label: 'Say host, user and password one by one, and choose the database', value: 'fields' },
    ],
  },
  {
    id: 'url',
    kind: 'text',
    label: 'Source:',
    about: () => [
      'Such as postgres://user:password@host:5432/database or mysql://…; where its password is kept is asked later.',
      'Without a database, those of the server are listed.',
    ],
    when: ({ answers }) => answers.how !== 'fields',
  },
  {
    id: 'engine',
    kind: 'choice',
    about: () => ['What kind of server it is.'],
    when: byFields,
    options: () => ENGINE_PROFILES.map(({ id, products }) => ({ label: products.join(' or '), value: id })),
  },
  {
    id: 'host',
    kind: 'text',
    label: 'Host:',
    about: () => ['Name or address of the server.'],
    when: byFields,
    initial: () => 'localhost',
  },
  {
    id: 'port',
    kind: 'text',
    label: 'Port:',
    about: () => ['Port of the server.'],
    when: byFields,
    initial: ({ answers }) => String(profileOfScheme(answers.engine ?? '')?.defaultPort ?? ''),
  },
  { id: 'user', kind: 'text', label: 'User:', about: () => ['Who to log in as.'], when: byFields },
  {
    id: 'password',
    kind: 'text',
    label: 'Password:',
    about: () => ['Its password; empty for none. Then the server is asked for its databases.'],
    when: byFields,
    optional: true,
    secret: true,
  },
  {
    id: 'database',
    kind: 'choice',
    about: () => ['The database to take snapshots of.'],
    when: (route) => byFields(route) || lacksDatabase(route),
    options: ({ found }) =>
      found.databases.map((database) => ({ label: sized(database, found.databases), value: database.name })),
  },
  {
    id: 'schemas',
    kind: 'choice',
    about: () => ['Which of its schemas belong into a snapshot. Enter on one takes it out or in again.'],
    when: ({ found }) => (found.source?.schemas ?? []).some(({ name }) => name !== 'public'),
    options: ({ found, leftOut }) => {
      const schemas = found.source?.schemas ?? [];
      const some = `Go on with ${schemas.length - leftOut.length} of ${schemas.length} schemas`;
      return [
        { label: leftOut.length === 0 ? 'Go on with all of them, and those to come' : some, value: GO_ON },
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
    about: ({ found }) => [
      'The database to load snapshots into: replaced by each load, and created by the first one where it is not there.',
      `Such as ${found.source?.engine ?? 'postgres'}://user:password@localhost/database_dev. Empty to say so later.`,
    ],
    optional: true,
  },
  {
    id: 'keep',
    kind: 'choice',
    about: () => ['Where to keep the password.'],
    when: ({ found }) => found.source?.hasPassword === true || found.destination?.hasPassword === true,
    options: () => [
      { label: 'Encrypted in the file', value: 'encrypted' },
      { label: 'In an environment variable, which the file names', value: 'variable' },
    ],
  },
  {
    id: 'sourceVariable',
    kind: 'text',
    label: 'Variable:',
    about: () => ['The environment variable with the password of the source.'],
    when: (route) => inVariables(route) && route.found.source?.hasPassword === true,
    initial: ({ answers }) => `${inCapitals(answers.target)}_PASSWORD`,
  },
  {
    id: 'destinationVariable',
    kind: 'text',
    label: 'Variable:',
    about: () => ['The environment variable with the password of the destination.'],
    when: (route) => inVariables(route) && route.found.destination?.hasPassword === true,
    initial: ({ answers }) => `${inCapitals(answers.target)}_DESTINATION_PASSWORD`,
  },
  ...STORAGE_STEPS,
  {
    id: 'review',
    kind: 'review',
    about: ({ found }) => [`${found.plan?.file ?? 'The file'}, as Enter writes it:`],
  },
  {
    id: 'done',
    kind: 'choice',
    about: ({ found }) => {
      const names = Object.keys(found.plan?.variables ?? {});
      const needed = [
        'This session knows the password. Every other one needs:',
        ...names.map((name) => `export ${name}=…`),
      ];
      return [`Wrote ${found.plan?.file ?? 'the file'}.`, ...(names.length > 0 ? needed : [])];
    },
    options: ({ answers }) => [
      { label: `Take the first snapshot of ${answers.target} now`, value: 'build' },
      { label: 'Later: show the targets', value: 'later' },
    ],
  },
];

export function stepWithId(id: SetupStepId): SetupStep {
  const step = SETUP_STEPS.find((candidate) => candidate.id === id);
  if (!step) throw new Error(`there is no step ${id}`);
  return step;
}

/** The questions that apply to the answers so far. */
export function stepsOf(route: SetupRoute): SetupStep[] {
  return SETUP_STEPS.filter(({ when }) => when?.(route) ?? true);
}

/** Aligns the sizes. */
function sized({ name, size_bytes }: Sized, all: Sized[]): string {
  const widest = Math.max(...all.map((other) => cellWidth(other.name)));
  return size_bytes === null ? name : `${fitCells(name, widest)}  ${formatBytes(size_bytes)}`;
}

function inCapitals(name = ''): string {
  return name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '_')
    .replace(/^(?=\d)/, '_');
}
