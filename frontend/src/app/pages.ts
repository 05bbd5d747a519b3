/**
 * Every page: its address, its name, and where its code is. The router, the rail, the palette and the tests of the browser
 * (`tests/browser/routes.py`) read this list.
 */
import type { ComponentType } from "react";
import type { t } from "@/i18n/en/app";
import { preloadMarkdown } from "@/markdown/Lazy";

/** A word of the app, by its key: the language is not loaded yet when this is. */
export type AppWord = Parameters<typeof t>[0];

export interface Page {
  path: string;
  title: AppWord;
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
    title: "dashboard",
    load: async () => (await import("@/features/dashboard/DashboardPage")).DashboardPage,
  },
  setup: {
    path: "/setup",
    title: "setup",
    load: async () => (await import("@/features/setup/SetupPage")).SetupPage,
  },
  objectives: {
    path: "/objectives",
    title: "objectives",
    load: async () => (await import("@/features/sessions/SessionsPage")).ObjectivesPage,
  },
  newObjective: {
    path: "/objectives/new",
    title: "newObjective",
    load: async () => (await import("@/features/sessions/NewSessionPage")).NewObjectivePage,
  },
  objective: {
    path: "/objectives/$id",
    title: "objectives",
    load: async () => (await sessionPages()).ObjectivePage,
  },
  sessions: {
    path: "/sessions",
    title: "sessions",
    load: async () => (await import("@/features/sessions/SessionsPage")).SessionsPage,
  },
  newSession: {
    path: "/sessions/new",
    title: "newSession",
    load: async () => (await import("@/features/sessions/NewSessionPage")).NewSessionPage,
  },
  session: {
    path: "/sessions/$id",
    title: "sessions",
    load: async () => (await sessionPages()).SessionPage,
  },
  approvals: {
    path: "/approvals",
    title: "approvals",
    load: async () => (await import("@/features/approvals/ApprovalsPage")).ApprovalsPage,
  },
  approval: {
    path: "/approvals/$id",
    title: "approvals",
    load: async () => (await import("@/features/approvals/ApprovalPage")).ApprovalPage,
  },
  audit: {
    path: "/audit",
    title: "audit",
    load: async () => (await import("@/features/audit/AuditPage")).AuditPage,
  },
  decision: {
    path: "/audit/$seq",
    title: "audit",
    load: async () => (await import("@/features/audit/DecisionPage")).DecisionPage,
  },
  usage: {
    path: "/usage",
    title: "usage",
    load: async () => (await import("@/features/usage/UsagePage")).UsagePage,
  },
  secrets: {
    path: "/secrets",
    title: "secrets",
    load: async () => (await import("@/features/secrets/SecretsPage")).SecretsPage,
  },
  egress: {
    path: "/network",
    title: "egress",
    load: async () => (await import("@/features/egress/EgressPage")).EgressPage,
  },
  rules: {
    path: "/rules",
    title: "rules",
    load: async () => (await import("@/features/rules/RulesPage")).RulesPage,
  },
  memories: {
    path: "/memories",
    title: "memory",
    load: async () => (await import("@/features/memories/MemoriesPage")).MemoriesPage,
  },
  directives: {
    path: "/directives",
    title: "directives",
    load: async () => (await import("@/features/directives/DirectivesPage")).DirectivesPage,
  },
  schedules: {
    path: "/schedules",
    title: "schedules",
    load: async () => (await import("@/features/schedules/SchedulesPage")).SchedulesPage,
  },
  channels: {
    path: "/channels",
    title: "channels",
    load: async () => (await import("@/features/channels/ChannelsPage")).ChannelsPage,
  },
  settings: {
    path: "/settings",
    title: "settings",
    load: async () => (await import("@/features/settings/SettingsPage")).SettingsPage,
  },
  search: {
    path: "/search",
    title: "search",
    load: async () => (await import("@/features/search/SearchPage")).SearchPage,
  },
  more: {
    path: "/more/$name",
    title: "more",
    load: async () => (await import("@/features/more/MorePage")).MorePage,
  },
} satisfies Record<string, Page>;

export type PageName = keyof typeof PAGES;
