/** Addresses to pages. Each page's code is loaded when it is first wanted. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { fetched } from "@/api/parts";
import { Broken, NotFound } from "./Fallbacks";
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

export const router = createRouter({
  routeTree: root.addChildren(routes),
  defaultPreload: "intent",
  scrollRestoration: true,
});
