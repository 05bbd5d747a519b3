/** Absolute paths of folders as text. Separators are "/"; nothing here looks at a disk. */

export interface Crumb {
  name: string;
  path: string;
}

/** The folder above; "/" is its own. */
export function parentOf(path: string): string {
  const bare = trimmed(path);
  return bare.slice(0, bare.lastIndexOf("/")) || "/";
}

/** The last name; "" of "/". */
export function nameOf(path: string): string {
  const bare = trimmed(path);
  return bare.slice(bare.lastIndexOf("/") + 1);
}

/** The way down from the top, which is left out. */
export function crumbsOf(path: string): Crumb[] {
  const names = path.split("/").filter(Boolean);
  return names.map((name, place) => ({ name, path: `/${names.slice(0, place + 1).join("/")}` }));
}

/** Without slashes at the end; "/" stays. */
export function trimmed(path: string): string {
  return path.replace(/(?!^)\/+$/, "");
}

/** With a "~" at the beginning written out. `home` is "" while it is not known. */
export function expanded(path: string, home: string): string {
  return home && /^~(?=\/|$)/.test(path) ? home + path.slice(1) : path;
}
