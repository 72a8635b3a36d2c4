import { describe, expect, it } from 'vitest';
import { createCollector, insertValue } from '../../src/sanitize/leaks/collect-values.ts';
import { judgeColumn } from '../../src/sanitize/leaks/judge-column.ts';
import { type ColumnHits, noHits, Search } from '../../src/sanitize/leaks/search-values.ts';
import { type LeakColumn, tellingBits } from '../../src/sanitize/leaks/value-class.ts';
import {
  allocateTable,
  mix,
  newDistinctBits,
  noteDistinct,
  openTable,
  planRounds,
} from '../../src/sanitize/leaks/value-table.ts';

const SOURCE: LeakColumn = {
  ...{ id: 0, kind: 'email', isDate: false, repeats: false, hasParts: false, scale: 1 },
  tellingBits: tellingBits(100),
};

/** The text of COPY. */
function stored(values: (string | Buffer)[]): Buffer {
  const escaped = values.map((value) =>
    (typeof value === 'string' ? Buffer.from(value) : value)
      .toString('latin1')
      .replaceAll('\\', '\\\\')
      .replaceAll('\n', '\\n')
      .replaceAll('\t', '\\t'),
  );
  return Buffer.from(`${escaped.join('\n')}\n\\.\n`, 'latin1');
}

interface SearchCase {
  original: string[];
  result: (string | Buffer)[];
  source?: Partial<LeakColumn>;
  chunk?: number;
  rounds?: number;
}

function search({ original, result, source = {}, chunk = 1 << 20, rounds = 1 }: SearchCase): ColumnHits[] {
  return Array.from({ length: rounds }, (_, round) => {
    const table = openTable(allocateTable(2 ** 12), { round, rounds });
    createCollector({
      format: 'copied',
      sources: [{ ...SOURCE, ...source }],
      onValue: (value) => expect(insertValue(table, value)).toBe(true),
    }).push(stored(original));
    const found = new Search({ table, columns: [{ scale: 1 }] });
    const rows = found.rows('copied');
    const bytes = stored(result);
    for (let at = 0; at < bytes.length; at += chunk) rows.push(bytes.subarray(at, at + chunk));
    return found.hits[0] ?? noHits();
  });
}

function count(searched: SearchCase): number {
  return search(searched).reduce((sum, { counts }) => sum + counts.reduce((all, one) => all + one, 0), 0);
}

describe('the search for original values', () => {
  const mail = 'josé.müller@mail.example.org';

  it('finds a value whatever its case, blanks, place and character set', () => {
    const long = `${'some words before it, '.repeat(100_000)}${mail} and more`;
    const places = [
      mail,
      mail.toUpperCase(),
      ` ${mail}\t`,
      `write to <${mail}>, please`,
      JSON.stringify({ old: [{ mail }] }),
      JSON.stringify({ old: mail }).replaceAll(/[^ -~]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`),
      `{x,"${mail}"}`,
      `\\x${Buffer.from(mail).toString('hex')}`,
      Buffer.from(mail, 'latin1'),
      mail.normalize('NFD'),
      long,
    ];
    for (const place of places) {
      for (const chunk of [7, 1 << 20, 1 << 22]) {
        if (place === long && chunk === 7) continue;
        expect(count({ original: [mail], result: ['nothing', place], chunk }), String(place).slice(0, 80)).toBe(1);
      }
    }
    expect(count({ original: [mail], result: ['josé.müller@mail.example.com', 'müller', 'mail example org'] })).toBe(0);
  });

  it('finds a value in the encodings of addresses, XML, and bytea within arrays, records and documents', () => {
    const hex = Buffer.from(mail).toString('hex');
    const places = [
      `https://shop.example.org/reset?mail=${encodeURIComponent(mail)}&id=7`,
      `GET /reset?mail=${encodeURIComponent(mail).toLowerCase()} 100% done`,
      `<a href="x">${mail.replaceAll(/[^ -~]/g, (letter) => `&#${letter.charCodeAt(0)};`).replace('@', '&#x40;')}</a>`,
      `{"\\\\x00","\\\\x${hex}"}`,
      `(7,"\\\\x${hex}")`,
      `{"(7,\\"\\\\\\\\x${hex}\\")"}`,
      JSON.stringify({ raw: `\\x${hex}` }),
    ];
    for (const place of places) {
      for (const chunk of [7, 1 << 20]) {
        const [hits] = search({ original: [mail], result: ['nothing %20 &#64;', place], chunk });
        expect(hits?.counts, place).toEqual([0, 0, 0, 0, 1]);
        expect(hits?.hits, place).toMatchObject([{ text: 'josémüllermailexampleorg' }]);
      }
    }
  });

  it('finds a number without blanks within a text and before decimal places', () => {
    const result = ['call +493090182055 today', '493090182055.00', '0049/30', '4930 90182 today'];
    expect(count({ original: ['+49 30 90182055'], result, source: { kind: 'phone' } })).toBe(2);
  });

  it('finds numbers with other signs between their digits, texts of any length and words without blanks', () => {
    expect(
      count({ original: ['+49 30 90182055'], result: ['+493090182055', '0049/30'], source: { kind: 'phone' } }),
    ).toBe(1);
    const text = Array.from({ length: 90 }, (_, at) => `word${at}`).join(' ');
    expect(
      count({ original: [text], result: [`before ${text} after`, text.slice(0, 40)], source: { kind: 'free_text' } }),
    ).toBe(1);
    expect(count({ original: ['山田太郎花子次郎'], result: ['山田太郎花子次郎さん'], source: { kind: 'name' } })).toBe(
      1,
    );
  });

  it('takes the personal parts of documents and texts', () => {
    const original = [
      JSON.stringify({ order: 1234567890123, customer: { first_name: 'Zebulona', contact: 'a.b@mail.example.org' } }),
      'called a.c@mail.example.org today',
    ];
    const result = ['A.B@mail.example.org', 'zebulona', 'a.c@mail.example.org', '1234567890123', 'called', 'order'];
    expect(count({ original, result, source: { kind: 'free_text', hasParts: true } })).toBe(3);
  });

  it('finds each value in one of several rounds', () => {
    const original = Array.from({ length: 50 }, (_, at) => `person-${at}@mail.example.org`);
    const rounds = search({ original, result: original, rounds: 3 }).map(({ counts }) => counts[4]);
    expect(rounds.reduce((sum, one) => sum + one, 0)).toBe(50);
    expect(Math.max(...rounds)).toBeLessThan(50);
    expect(planRounds(1000).rounds).toBe(1);
    const many = planRounds(40_000_000);
    expect(many.rounds).toBeGreaterThan(1);
    expect(allocateTable(many.slots).buffer.byteLength).toBeLessThan(200 * 1000 * 1000);
  });

  it('reports no short and common values', () => {
    const original = ['ab', '1234', 'x', 'Anna'];
    const [hits] = search({ original, result: [...original, 'Anna went home'], source: { kind: 'name' } });
    expect(hits?.counts).toEqual([0, 0, 1, 0, 0]);
  });
});

describe('the share of a finding', () => {
  const hits = (counts: ColumnHits['counts'], { values = 100, distinct = 30 } = {}): ColumnHits => {
    const bits = newDistinctBits();
    for (let at = 0; at < distinct; at += 1) noteDistinct(bits, mix(at, at), 1);
    return { ...noHits(), values, counts, distinct: bits };
  };

  it('is one telling value, and a part of the column for others', () => {
    const judge = (counts: ColumnHits['counts'], distinct = 30) =>
      judgeColumn({ hits: hits(counts, { distinct }), own: null, before: null }).verdict;
    expect(judge([0, 0, 0, 0, 1], 1)).toBe('found');
    expect(judge([0, 0, 0, 5, 0])).toBe('common');
    expect(judge([0, 0, 0, 6, 0])).toBe('found');
    expect(judge([0, 0, 50, 0, 0])).toBe('common');
    expect(judge([0, 0, 51, 0, 0])).toBe('found');
    expect(judge([0, 0, 51, 0, 0], 4)).toBe('none');
    expect(judge([51, 0, 0, 0, 0])).toBe('found');
  });

  it('counts numbers and words of many columns only where the query has added some', () => {
    const judge = (before: 'same' | ColumnHits, counts: ColumnHits['counts']) =>
      judgeColumn({ hits: hits(counts), own: null, before }).verdict;
    expect(judge('same', [90, 0, 0, 0, 0])).toBe('none');
    expect(judge('same', [0, 90, 0, 0, 0])).toBe('common');
    expect(judge('same', [0, 0, 0, 40, 0])).toBe('common');
    expect(judge('same', [0, 0, 90, 0, 0])).toBe('found');
    expect(judge(hits([90, 0, 0, 0, 0]), [90, 0, 0, 0, 0])).toBe('none');
    expect(judge(hits([10, 0, 0, 0, 0]), [90, 0, 0, 0, 0])).toBe('found');
  });

  it('is half of the original values in a personal column itself', () => {
    const own = (distinct: number) => hits([0, 0, 0, 0, 0], { distinct }).distinct;
    const judge = (remaining: number) =>
      judgeColumn({ hits: hits([0, 0, 60, 0, 0], { distinct: remaining }), own: own(100), before: 'same' }).verdict;
    expect(judge(30)).toBe('common');
    expect(judge(70)).toBe('found');
  });
});

describe('the quick check of a stored field', () => {
  const original = ['+49 30 90182055', '12 Lindenallee Berlin', 'wrzlbrmft.q@mail.example.org', 'quastenhuberinnen'];
  const texts = [
    '2020-01-01 12:34:56+00',
    '12 30 49',
    'Linden',
    '[1, {"a": "b, c"}]',
    '(x,12)',
    '\\N',
    '',
    'é',
    'a\\b',
  ];

  it('passes no field that holds a value, and counts the others as values', () => {
    for (const value of original) {
      const kind = value.startsWith('+') ? 'phone' : 'name';
      const places = texts.flatMap((text) => [
        ...[value, `${value} ${text}`, `${text} ${value}`],
        ...[JSON.stringify({ [text]: value }), `("${value}")`],
      ]);
      expect(count({ original, result: [...texts, ...places], source: { kind } }), value).toBe(places.length);
    }
    const parts = ['{"a":"Xaverine"}', '(1,Xaverine)', '{Xaverine,x}', '["it, she", "Xaverine"]'];
    expect(count({ original: ['Xaverine'], result: parts, source: { kind: 'name' } })).toBe(parts.length);
    const [hits] = search({ original, result: texts });
    expect(hits).toMatchObject({ values: texts.length - 1, counts: [0, 0, 0, 0, 0] });
  });

  it('leaves NULL out', () => {
    const table = openTable(allocateTable(2 ** 12), { round: 0, rounds: 1 });
    const found = new Search({ table, columns: [{ scale: 1 }, { scale: 1 }] });
    found.rows('copied').push(Buffer.from('\\N\tabc\n\\Nx\t\\N\n\t\n'));
    expect(found.hits.map(({ values }) => values)).toEqual([1, 1]);
  });
});
