import type { NamedPart } from '../../test/prove/promises.ts';
import type { Proof } from './proof.ts';

/** docs/proof.md: nothing in it but the results and the names of the parts. */
export function proofPage(proof: Proof, parts: NamedPart[]): string {
  const promises = Map.groupBy(parts, ({ promise }) => promise);
  const resultOf = (name: string) => proof.parts.find((part) => part.name === name);
  const rows = [...promises].map(([promise, own]) => {
    const results = own.flatMap(({ name }) => resultOf(name) ?? []);
    const trials = sum(results.map(({ rounds }) => rounds));
    const servers = [...new Set(results.flatMap((result) => result.servers))].sort();
    return [
      promise,
      own.map(({ method }) => method).join('; '),
      trials === 0 ? 'not run' : count(trials),
      count(sum(own.map(({ rounds }) => rounds))),
      foundIn(results.flatMap(({ findings }) => findings)),
      servers.join(', '),
      duration(sum(results.map(({ seconds }) => seconds))),
    ];
  });
  const details = parts.map(({ name, method, rounds: required }) => {
    const result = resultOf(name);
    const rounds = result?.rounds ?? 0;
    const trials = rounds === 0 ? `not run${result?.skipped ? ` (${result.skipped})` : ''}` : count(rounds);
    const perMinute = result && result.seconds > 0 ? count(Math.round((rounds * 60) / result.seconds)) : '';
    return [`\`${name}\``, method, trials, count(required), duration(result?.seconds ?? 0), perMinute];
  });
  const others = proof.suites.flatMap(({ suite, parts: own }) => own.map((part) => ({ suite, ...part })));
  const findings = [...proof.parts, ...others].flatMap(({ name, findings: own }) =>
    own.map((finding) => ({ name, ...finding })),
  );
  return `# Proof

Written by \`npm run prove\` from [proof.json](proof.json), which has the results of its rounds. Each round is repeatable: \`npm run prove -- --only PART --seed ${proof.seed} --round N\`. What a test of a promise does, and how to run more rounds, is in [development.md](development.md#the-proof).

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

function foundIn(findings: { passes: boolean }[]): string {
  const open = findings.filter(({ passes }) => !passes).length;
  return findings.length === 0 ? '0' : `${findings.length} (${open} open)`;
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
