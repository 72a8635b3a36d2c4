import { createHash } from 'node:crypto';

/** Both schemes have a contrast of at least 4.5:1 for text, 3:1 for borders of controls. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #ffffff; --raised: #f6f7f9; --line: #d5d9df; --control: #767d88;
  --text: #1a1d21; --faint: #565d68; --link: #0a55b8; --focus: #0a55b8;
  --button: #0a55b8; --on-button: #ffffff;
  --late: #8f1d13; --late-ground: #fdeceb; --well: #10602c; --well-ground: #e8f6ec;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --raised: #1c2026; --line: #343a43; --control: #8b93a0;
    --text: #e8eaee; --faint: #a8b0bc; --link: #8ab8ff; --focus: #8ab8ff;
    --button: #8ab8ff; --on-button: #10151c;
    --late: #ffb3ab; --late-ground: #43201d; --well: #97dca9; --well-ground: #173722;
  }
}
* { box-sizing: border-box; }
html { font: 100%/1.5 system-ui, sans-serif; background: var(--ground); color: var(--text); }
body { margin: 0; }
a { color: var(--link); text-underline-offset: .15em; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 2px; }
main:focus { outline: none; }
.skip { position: absolute; left: 1rem; top: -4rem; padding: .5rem 1rem; background: var(--ground); z-index: 1; }
.skip:focus { top: .5rem; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.5rem; padding: .5rem 1rem;
  background: var(--raised); border-bottom: 1px solid var(--line); }
.brand { font-weight: 600; }
header ul { display: flex; gap: .25rem; margin: 0; padding: 0; list-style: none; }
header nav a { display: block; padding: .5rem; color: inherit; text-decoration: none; border-bottom: 2px solid transparent; }
header nav a:hover { text-decoration: underline; }
header nav a[aria-current] { font-weight: 600; border-color: var(--link); }
.user { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem .75rem; margin: 0 0 0 auto; min-width: 0; }
main { max-width: 80rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0; }
p { max-width: 45rem; }
bdi, .value { overflow-wrap: anywhere; }
.faint { color: var(--faint); }
button, .button { font: inherit; line-height: 1.5; min-height: 2.5rem; padding: .4rem .9rem; border: 1px solid var(--control); border-radius: .375rem;
  background: var(--ground); color: var(--text); cursor: pointer; }
.button, .filter button { background: var(--button); border-color: var(--button); color: var(--on-button); text-decoration: none;
  display: inline-block; }
button:hover, .button:hover { text-decoration: underline; }
.filter { display: flex; flex-wrap: wrap; align-items: end; gap: .75rem 1rem; margin: 1rem 0; }
.filter label { display: grid; gap: .125rem; font-size: .875rem; }
.filter .check { display: flex; align-items: center; gap: .5rem; font-size: 1rem; padding: .4rem 0; }
input, select { font: inherit; line-height: 1.5; min-width: 0; max-width: 100%; padding: .4rem .5rem; border: 1px solid var(--control);
  border-radius: .375rem; background: var(--ground); color: var(--text); min-height: 2.5rem; }
.filter input { width: 9.5rem; }
.filter input[type=search] { width: 14rem; }
.filter input[type=checkbox] { width: 1.25rem; min-height: 0; height: 1.25rem; margin: 0; }
table { width: 100%; border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--faint); padding-bottom: .5rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); font-weight: normal; }
thead th { font-size: .875rem; color: var(--faint); white-space: nowrap; }
tbody th { font-weight: 600; }
th.number, td.number { text-align: right; padding-right: 2rem; }
time { white-space: nowrap; }
td ul { margin: 0; padding: 0; list-style: none; }
.label { display: none; }
.state { display: inline-block; padding: .05rem .5rem; border-radius: 1rem; white-space: nowrap; }
.late { color: var(--late); background: var(--late-ground); font-weight: 600; }
.well { color: var(--well); background: var(--well-ground); }
.pager { display: flex; gap: 1.5rem; }
.actions { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; }
@media (max-width: 50rem) {
  .user { margin-left: 0; width: 100%; justify-content: space-between; }
  .filter label:not(.check) { flex: 1 1 8rem; }
  .filter input:not([type=checkbox]), .filter select { width: 100%; }
  time { white-space: normal; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  table, tbody, tbody tr, tbody th, tbody td, caption { display: block; }
  tbody tr { padding: .75rem 0; border-bottom: 1px solid var(--line); }
  tbody th, tbody td { display: flex; gap: .75rem; padding: .125rem 0; border: 0; }
  tbody td.number { text-align: left; padding-right: 0; }
  tbody th { font-size: 1.125rem; }
  tbody th .label { display: none; }
  .label { display: block; flex: 0 0 7rem; color: var(--faint); font-size: .875rem; line-height: 1.7; }
  .value { min-width: 0; }
}
`;

const version = createHash('sha256').update(STYLE).digest('base64url').slice(0, 10);

/** Another style has another path, so that it may be stored for long. */
export const STYLE_PATH = `/style-${version}.css`;
