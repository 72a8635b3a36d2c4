import { html } from 'hono/html';
import type { Caller } from '../permissions/access.ts';
import { type Html, nameOf } from './html.ts';
import type { Site } from './site.ts';
import { STYLE_PATH } from './style.ts';

export interface Layout {
  title: string;
  site: Site;
  /** Signed in: the page has navigation and the button to sign out. */
  caller: Caller | null;
  /** The link of the navigation that is this page. */
  current?: 'overview' | 'audit';
  content: Html;
}

/** A page with its landmarks: a link to the content, header, navigation, main. */
export function layout({ title, site: { base }, caller, current, content }: Layout): Html {
  const link = (name: 'overview' | 'audit', path: string, label: string): Html =>
    html`<li><a href="${base}${path}"${name === current ? html` aria-current="page"` : ''}>${label}</a></li>`;
  const user =
    caller &&
    html`<nav aria-label="Pages"><ul>${link('overview', '/', 'Overview')}${link('audit', '/audit', 'Audit')}</ul></nav>
<form class="user" method="post" action="${base}/sign-out"><span>${nameOf(caller.name)}</span> <button>Sign out</button></form>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title} · tool hub</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}${STYLE_PATH}">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><span class="brand">tool hub</span>
${user}</header>
<main id="content" tabindex="-1">
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`;
}

/** A column of a table; on a narrow window its label stands before each value. */
export interface Column<Row> {
  label: string;
  /** Right-aligned. */
  number?: boolean;
  value: (row: Row) => Html | string | number;
}

/** The roles are those of the elements: a browser drops them where the style shows rows as blocks. */
export function table<Row>(caption: string, { columns, rows }: { columns: Column<Row>[]; rows: Row[] }): Html {
  const kind = ({ number }: Column<Row>): Html => html`${number ? html` class="number"` : ''}`;
  const cell = (column: Column<Row>, row: Row, index: number): Html => {
    const label = html`<span class="label" aria-hidden="true">${column.label}</span>`;
    const value = html`<span class="value">${column.value(row)}</span>`;
    return index === 0
      ? html`<th scope="row" role="rowheader">${label}${value}</th>`
      : html`<td role="cell"${kind(column)}>${label}${value}</td>`;
  };
  return html`<table role="table">
<caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map((column) => html`<th scope="col" role="columnheader"${kind(column)}>${column.label}</th>`)}</tr></thead>
<tbody role="rowgroup">
${rows.map(
  (row) => html`<tr role="row">${columns.map((column, index) => cell(column, row, index))}</tr>
`,
)}</tbody>
</table>`;
}

/** Links to the other pages of a list. */
export function pager(path: string, { query, next }: { query: Record<string, string>; next: string | null }): Html {
  const at = (cursor: string | null): string => {
    const { cursor: _, ...rest } = query;
    const search = new URLSearchParams({ ...rest, ...(cursor !== null && { cursor }) }).toString();
    return search === '' ? path : `${path}?${search}`;
  };
  const first = query.cursor === undefined ? '' : html`<a href="${at(null)}">First page</a>`;
  const more = next === null ? '' : html`<a href="${at(next)}" rel="next">Next page</a>`;
  return first === '' && more === ''
    ? html``
    : html`<nav class="pager" aria-label="Pages of the list">${first} ${more}</nav>`;
}
