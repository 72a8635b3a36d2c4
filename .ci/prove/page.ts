import type { NamedPart } from '../../test/prove/promises.ts';
import type { Proof } from './proof.ts';

/** docs/proof.md: for each promise the finished rounds and the servers. */
export function proofPage(proof: Proof, parts: NamedPart[]): string {
  const rows = resultsByPromise(proof, parts).map(({ promise, rounds, required, findings, servers }) => [
    promise,
    rounds === 0 ? 'not run' : count(rounds),
    count(required),
    String(openOf(findings)),
    servers.join(', '),
  ]);
  return `# Proof

The program is tested against real servers, with random data, random moments of kill -9, broken networks and hostile files.

\`\`\`sh
npm run prove -- --only data/postgres --seed ${proof.seed} --round 7
\`\`\`

Each round, such as this one, can be repeated, and checks a promise of the program. A round that fails is a finding, which is open until the same round passes.

- Seed ${proof.seed}, ${day(proof.from)} to ${day(proof.to)}
- ${proof.systems.join('; ')}; Node ${proof.node.join(', ')}
- Also with servers of ${proof.suites.length === 0 ? 'no other suite of Debian' : `Debian ${proof.suites.map(({ suite }) => suite).join(', ')}`}

${table([['promise', 'rounds', 'required', 'open findings', 'servers'], ...rows])}

Methods, durations, findings, commits and other servers are in the [journal](../test/prove/journal.md). [test/prove](../test/prove/README.md) describes how to run more rounds.
`;
}

/** test/prove/journal.md: nothing in it but the results and the names of the parts. */
export function journalPage(proof: Proof, parts: NamedPart[]): string {
  const rows = resultsByPromise(proof, parts).map(({ promise, own, rounds, required, findings, servers, seconds }) => [
    promise,
    own.map(({ method }) => method).join('; '),
    rounds === 0 ? 'not run' : count(rounds),
    count(required),
    foundIn(findings),
    servers.join(', '),
    duration(seconds),
  ]);
  const details = parts.map((part) => {
    const result = resultOf(proof, part);
    const rounds = result?.rounds ?? 0;
    const trials = rounds === 0 ? `not run${result?.skipped ? ` (${result.skipped})` : ''}` : count(rounds);
    const perMinute = result && result.seconds > 0 ? count(Math.round((rounds * 60) / result.seconds)) : '';
    return [`\`${part.name}\``, part.method, trials, count(part.rounds), duration(result?.seconds ?? 0), perMinute];
  });
  const others = proof.suites.flatMap(({ suite, parts: own }) => own.map((part) => ({ suite, ...part })));
  const findings = [...proof.parts, ...others].flatMap(({ name, findings: own }) =>
    own.map((finding) => ({ name, ...finding })),
  );
  return `# Journal of the proof

Written by \`npm run prove\` from [proof.json](proof.json), which has the results of its rounds. [docs/proof.md](../../docs/proof.md) is the page for users. Each round is repeatable: \`npm run prove -- --only PART --seed ${proof.seed} --round N\`.

- Seed: ${proof.seed}
- Dates: ${day(proof.from)} to ${day(proof.to)}
- Commits: ${proof.commits.map((commit) => `\`${commit}\``).join(', ')}
- System: ${proof.systems.join(', ')}; Node ${proof.node.join(', ')}

${table([['promise', 'method', 'trials', 'required', 'findings', 'servers', 'duration'], ...rows])}

## Findings

${findings.length === 0 ? 'None.' : table([['part', 'finding', 'repeat', 'now'], ...findings.map(({ name, message, repeat, passes }) => [`\`${name}\``, message, `\`${repeat}\``, passes ? 'passes' : 'open'])])}

## Other servers

${others.length === 0 ? 'Not run.' : table([['suite of Debian', 'part', 'trials', 'findings', 'servers', 'duration'], ...others.map(({ suite, name, rounds, findings: own, servers, seconds }) => [suite, `\`${name}\``, count(rounds), foundIn(own), servers.join(', '), duration(seconds)])])}

## Parts

${table([['part', 'method', 'trials', 'required', 'duration', 'trials per minute'], ...details])}
`;
}

function resultOf(proof: Proof, { name }: NamedPart): Proof['parts'][number] | undefined {
  return proof.parts.find((part) => part.name === name);
}

function resultsByPromise(proof: Proof, parts: NamedPart[]) {
  return [...Map.groupBy(parts, ({ promise }) => promise)].map(([promise, own]) => {
    const results = own.flatMap((part) => resultOf(proof, part) ?? []);
    return {
      ...{ promise, own },
      rounds: sum(results.map(({ rounds }) => rounds)),
      required: sum(own.map(({ rounds }) => rounds)),
      findings: results.flatMap(({ findings }) => findings),
      servers: [...new Set(results.flatMap((result) => result.servers))].sort(),
      seconds: sum(results.map(({ seconds }) => seconds)),
    };
  });
}

function foundIn(findings: { passes: boolean }[]): string {
  return findings.length === 0 ? '0' : `${findings.length} (${openOf(findings)} open)`;
}

function openOf(findings: { passes: boolean }[]): number {
  return findings.filter(({ passes }) => !passes).length;
}

function table(rows: string[][]): string {
  const [head = '', ...rest] = rows.map((row) => `| ${row.map(cell).join(' | ')} |`);
  return [head, `|${' --- |'.repeat(rows[0]?.length ?? 0)}`, ...rest].join('\n');
}

/** Messages of servers and of tests have anything in them. */
function cell(text: string): string {
  const printed = text.replaceAll(/[\p{Cc}\p{Cf}]/gu, (one) => `<U+${hex(one)}>`);
  return printed.replaceAll(/[|\\<>*_[\]]/g, '\\$&').replaceAll(/`([^`]*)`/g, (_, code) => `\`${unescaped(code)}\``);
}

function unescaped(code: string): string {
  return code.replaceAll(/\\([\\<>*_[\]])/g, '$1');
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}

function duration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function day(time: string): string {
  return time.slice(0, 10);
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
