/**
 * Every page: its address, its name, and where its code is. The router, the rail, the palette and the tests of the browser
 * (`tests/browser/routes.py`) read this list.
 */
import type { ComponentType } from "react";
import { t } from "@/i18n/en/app";
import { preloadMarkdown } from "@/markdown/Lazy";

export interface Page {
  path: string;
  title: string;
  load: () => Promise<ComponentType>;
}

/** What shows the words of a timeline comes at the same time, not after it. */
function sessionPages() {
  preloadMarkdown();
  return import("@/features/sessions/SessionPage");
}

export const PAGES = {
  dashboard: {
    path: "/",
    title: t("dashboard"),
    load: async () => (await import("@/features/dashboard/DashboardPage")).DashboardPage,
  },
  setup: {
    path: "/setup",
    title: t("setup"),
    load: async () => (await import("@/features/setup/SetupPage")).SetupPage,
  },
  objectives: {
    path: "/objectives",
    title: t("objectives"),
    load: async () => (await import("@/features/sessions/SessionsPage")).ObjectivesPage,
  },
  newObjective: {
    path: "/objectives/new",
    title: t("newObjective"),
    load: async () => (await import("@/features/sessions/NewSessionPage")).NewObjectivePage,
  },
  objective: {
    path: "/objectives/$id",
    title: t("objectives"),
    load: async () => (await sessionPages()).ObjectivePage,
  },
  sessions: {
    path: "/sessions",
    title: t("sessions"),
    load: async () => (await import("@/features/sessions/SessionsPage")).SessionsPage,
  },
  newSession: {
    path: "/sessions/new",
    title: t("newSession"),
    load: async () => (await import("@/features/sessions/NewSessionPage")).NewSessionPage,
  },
  session: {
    path: "/sessions/$id",
    title: t("sessions"),
    load: async () => (await sessionPages()).SessionPage,
  },
  approvals: {
    path: "/approvals",
    title: t("approvals"),
    load: async () => (await import("@/features/approvals/ApprovalsPage")).ApprovalsPage,
  },
  approval: {
    path: "/approvals/$id",
    title: t("approvals"),
    load: async () => (await import("@/features/approvals/ApprovalPage")).ApprovalPage,
  },
  audit: {
    path: "/audit",
    title: t("audit"),
    load: async () => (await import("@/features/audit/AuditPage")).AuditPage,
  },
  decision: {
    path: "/audit/$seq",
    title: t("audit"),
    load: async () => (await import("@/features/audit/DecisionPage")).DecisionPage,
  },
  usage: {
    path: "/usage",
    title: t("usage"),
    load: async () => (await import("@/features/usage/UsagePage")).UsagePage,
  },
  secrets: {
    path: "/secrets",
    title: t("secrets"),
    load: async () => (await import("@/features/secrets/SecretsPage")).SecretsPage,
  },
  egress: {
    path: "/network",
    title: t("egress"),
    load: async () => (await import("@/features/egress/EgressPage")).EgressPage,
  },
  rules: {
    path: "/rules",
    title: t("rules"),
    load: async () => (await import("@/features/rules/RulesPage")).RulesPage,
  },
  memories: {
    path: "/memories",
    title: t("memory"),
    load: async () => (await import("@/features/memories/MemoriesPage")).MemoriesPage,
  },
  directives: {
    path: "/directives",
    title: t("directives"),
    load: async () => (await import("@/features/directives/DirectivesPage")).DirectivesPage,
  },
  settings: {
    path: "/settings",
    title: t("settings"),
    load: async () => (await import("@/features/settings/SettingsPage")).SettingsPage,
  },
  search: {
    path: "/search",
    title: t("search"),
    load: async () => (await import("@/features/search/SearchPage")).SearchPage,
  },
  more: {
    path: "/more/$name",
    title: t("more"),
    load: async () => (await import("@/features/more/MorePage")).MorePage,
  },
} satisfies Record<string, Page>;

export type PageName = keyof typeof PAGES;
