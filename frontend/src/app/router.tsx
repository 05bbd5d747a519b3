/** Addresses to pages. Each page's code is loaded when it is first wanted. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { fetched } from "@/api/parts";
import { Broken, Loading, NotFound } from "./Fallbacks";
import { PAGES, type Page } from "./pages";
import { Shell } from "./shell/Shell";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const routes = Object.values<Page>(PAGES).map((page) =>
  createRoute({
    getParentRoute: () => root,
    path: page.path,
    component: lazyRouteComponent(async () => ({ default: await fetched(page.load) })),
    errorComponent: Broken,
  }),
);

/** How long a page stays while the code of the next one is fetched, before a skeleton takes its place. */
const PATIENCE_MS = 1000;

export const router = createRouter({
  routeTree: root.addChildren(routes),
  defaultPreload: "intent",
  scrollRestoration: true,
  defaultPendingComponent: Loading,
  // Before the first page there is nothing to stay: the frame is painted while the page's code is on its way.
  defaultPendingMs: 0,
  defaultPendingMinMs: 0,
});
const first = router.subscribe("onResolved", () => {
  first();
  router.options.defaultPendingMs = PATIENCE_MS;
});
