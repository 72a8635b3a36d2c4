import { markdownTable } from '../../text/markdown-table.ts';
import { variableName } from '../environment.ts';
import type { Shape } from '../schema/shape.ts';

export function configurationPage(shape: Shape): string {
  return [INTRODUCTION, ...sections(shape, []), ''].join('\n\n').replace(/\n*$/, '\n');
}

const INTRODUCTION = `# Configuration

<!-- Generated from src/config/schema by src/config/page.ts: npm run generate -->

A file of YAML and environment variables. The first of these files that is there is read: the one named with \`--config\`,
\`./tool.yml\`, \`~/.config/tool/tool.yml\`. No file at all is fine when the variables suffice. \`tool config init\` asks
for one in a terminal, and writes one with defaults elsewhere; \`tool config check\` finds everything that is wrong in it; \`tool config show\` says of every value in force where it
comes from; \`tool config schema\` prints what editors complete and validate with.
[tool.example.yml](../tool.example.yml) shows every key.

Without \`authtoken\` the tool works in local mode: this file, this machine. With it, in cloud mode; \`tool targets\` says
which. \`env\` selects where the cloud's API is: \`/api/v3\` below \`dev_api_url\`, \`staging_api_url\` or \`base_url\`. The last
two have no default, and are missed only where the cloud is used.

## Trust

A \`tool.yml\` in the current folder may come from somebody else, as with a repository that was cloned. The program asks
once before it uses such a file, and shows what the file asks for: hosts (with the parameters of URLs that matter), buckets,
variables, files, images, SQL and trusted keys. Before the answer it connects to nothing and reads no variable but its own
\`TOOL_TRUST\` and \`TOOL_SECRET_KEY\`. It does not ask about a file named with \`--config\`, about \`~/.config/tool/tool.yml\`,
about a file that asks for nothing of this, and under \`CI=true\`.

The answer is kept in \`~/.config/tool/trusted.json\`, by the path of the file and a SHA-256 of exactly what was shown: another
host is asked about again, a comment is not. Changes made by the program itself (editor, \`config encrypt\`, sign-in) keep a
trusted file trusted. The content of a \`query_file\` is not part of it. Without a terminal the exit code is 5
(\`configuration_untrusted\`); \`--trust\` answers yes and is remembered, \`TOOL_TRUST\` for one run: the hash that the error
names, the path of the file, or \`true\` for any file. \`--yes\` does not answer this question.
\`test/hostile/current-folder-configuration.test.ts\` shows it.

## Variables

A variable wins over the file. Its name is \`TOOL_\` and the key in upper case, with \`__\` for each dot. Names in maps match
without regard to case, \`-\` and \`_\` alike: \`TOOL_TARGETS__MY_APP__CPUS\` is \`targets.my-app.cpus\` where there is a target
\`my-app\`; where there is none, it makes one called \`my_app\`. Lists are separated by commas, or YAML in brackets; maps are
YAML in braces. An empty variable counts as not set. \`TOOL_NO_CONFIRM=true\` is no key: it answers every question with yes.

## Templates

Where a table says "template", a URL may hold Go templates, in quotes as YAML wants it:

\`\`\`yaml
src_url: "postgres://app:{{\`APP_PASSWORD\` | env}}@db.example.com:5432/app"
\`\`\`

- \`\`{{\`NAME\` | env}}\`\`, \`{{"NAME" | env}}\` and \`{{env "NAME"}}\` insert a variable; one that is not set is an error for the
  commands that need the URL.
- \`\`{{\`text\`}}\`\`, \`{{"text"}}\` and \`{{TEXT}}\` insert the text itself. \`{{-\` and \`-}}\` remove the blanks on their side.

A value that is valid in its part of the URL is inserted as it is, so it may be percent-encoded already. One with any
character that is not valid there is taken for plain text and encoded whole, so a password may hold \`@ : / ? # %\`. A
template that stands for the whole URL, or all of it from the scheme on, is URL text and not changed.

## Secrets

Any text may be written encrypted, in the file and in variables, and in a URL a part of it:
\`postgres://app:$aes$…@db/app\`. It is opened before anything else is done with it, so it may hold a template, and what a
template inserts may be encrypted too; in a URL it is fitted to its place as what a template inserts is. A value is
\`$aes$\` and the hexadecimal nonce (12 bytes), ciphertext and tag (16 bytes) of AES-256-GCM, with the 32 characters of
\`secret_key\` as the key.

\`tool config encrypt\` encrypts every value of the file that is plain and marked "Secret" below, of a URL the password;
\`tool config encrypt KEY\` this one, marked or not; \`tool config decrypt KEY\` prints one. Whatever the program changes in
the file, it changes where it stands: comments, order, quotes, anchors and line endings stay, and so does what somebody
else saves at the same moment. What cannot be changed so is refused.

The \`secret_key\` stands in the file, in \`TOOL_SECRET_KEY\`, or in the system's keychain: \`tool config init --keychain\`
puts it there, as the password of the service \`tool\` for the absolute path of the file, and writes
\`secret_key: keychain\`. Where there is no keychain, that is a warning, and the key is in the file. Whoever has both the file and its key can read everything in it, so keep
the two apart; what only a variable holds (see Templates) is in no file at all.

## Log

With \`debug: true\` or \`--debug\` the commands that are run are said on standard error, each with its exit code and time,
and a log is kept in \`logs/tool.log\` below the working directory: steps, commands, warnings, errors. \`trace: true\` adds
every other event and every SQL statement that the tool itself sends; what \`pg_dump\`, \`pg_restore\` and SQL files do
stands there as the command. Passwords and keys are left out. Several runs may write at once; a line begins with its time
and process. At 5 MB the log becomes \`tool.log.1\`, and so on up to \`tool.log.4\`. A log that cannot be written is a
warning, and the work goes on.

## Paths

\`~\` is the home directory; a relative path starts at the folder of the configuration file. A \`query_file\` is looked for
there and then in the current directory.`;

function sections(shape: Shape, path: string[]): string[] {
  const inner = shape.kind === 'map' || shape.kind === 'list' ? shape.of : shape;
  if (inner.kind !== 'object') return [];
  const rows = [...inner.keys].map(([key, child]) => row([...path, key], child));
  return [
    `## ${path.length === 0 ? 'Keys of the top level' : `\`${path.join('.')}\``}`,
    ...(shape.description === '' ? [] : [shape.description]),
    markdownTable([['key', 'type', 'default', 'variable', 'meaning'], ...rows]),
    ...[...inner.keys].flatMap(([key, child]) => sections(child, [...path, placeholder(key, child)])),
  ];
}

/** The heading of the parts of a list or a map. */
function placeholder(key: string, { kind }: Shape): string {
  if (kind === 'map') return `${key}.<name>`;
  return kind === 'list' ? `${key}[]` : key;
}

function row(path: string[], shape: Shape): string[] {
  const { description, traits, required } = shape;
  const inList = path.some((part) => part.endsWith('[]'));
  const notes = [description, traits.template ? 'Takes a template.' : '', traits.secret ? 'Secret.' : ''];
  return [
    `\`${path.at(-1)}\``,
    typeText(shape),
    required ? 'required' : shape.kind === 'value' && shape.default !== undefined ? `\`${shape.default}\`` : '',
    inList || (shape.kind !== 'value' && !isPlainList(shape)) ? '' : `\`${variableOf(path)}\``,
    notes
      .filter((note) => note !== '')
      .join(' ')
      .replaceAll('|', '\\|'),
  ];
}

function variableOf(path: string[]): string {
  const parts = path.flatMap((part) => part.split('.'));
  return variableName(parts.map((part) => (part === '<name>' ? 'NAME' : part)));
}

function isPlainList(shape: Shape): boolean {
  return shape.kind === 'list' && shape.of.kind === 'value';
}

function typeText(shape: Shape): string {
  if (shape.kind === 'object') return 'map';
  if (shape.kind === 'map') return 'map by name';
  if (shape.kind === 'list') return shape.of.kind === 'value' ? `list of ${typeText(shape.of)}` : 'list of maps';
  if (shape.choices.length > 0) return shape.choices.map((choice) => `\`${choice}\``).join(', ');
  return shape.traits.unit && shape.type !== 'text' ? `${shape.type}, ${shape.traits.unit}` : shape.type;
}
