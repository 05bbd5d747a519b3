/** Stands for a page while it is being written; no such page is left in a release. */
export function Unbuilt() {
  return <h1 className="p-6 text-2xl font-semibold">This page is being written</h1>;
}
