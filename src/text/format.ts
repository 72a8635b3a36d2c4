/** Sizes, counts, durations and ages, equal in the plain output and on the screens. */

const SIZE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** `12.3 MB`: decimal units, three figures. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // 999.5, so that rounding never shows a fourth figure.
  while (value >= 999.5 && unit < SIZE_UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  return `${value.toFixed(digits)} ${SIZE_UNITS[unit]}`;
}

/** `200,123`, in every locale. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `25 tables`, `1 table`. */
export function formatNumberOf(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : plural}`;
}

/** `10,000 of 10,006 tables`. */
export function formatPartOf(part: number, all: number, singular: string): string {
  return `${formatCount(part)} of ${formatNumberOf(all, singular)}`;
}

/** `340 ms`, `4.1 s`, `2 min 05 s`, `3 h 07 min`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${twoDigits(seconds % 60)} s`;
  const minutes = Math.floor(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`;
}

/** `just now`, `5 min ago`, `3 h ago`, `12 days ago`. */
export function formatAge(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ago`;
  return `${Math.floor(hours / 24)} days ago`;
}

/** `2026-11-21 05:22+01`: local, with the offset from UTC at that time, as PostgreSQL writes it. */
export function formatTime(time: string | number | Date): string {
  const date = new Date(time);
  const day = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
  return `${day} ${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}${offset(date)}`;
}

function offset(date: Date): string {
  const east = -date.getTimezoneOffset();
  const hours = `${east < 0 ? '-' : '+'}${twoDigits(Math.floor(Math.abs(east) / 60))}`;
  return east % 60 === 0 ? hours : `${hours}:${twoDigits(Math.abs(east) % 60)}`;
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
