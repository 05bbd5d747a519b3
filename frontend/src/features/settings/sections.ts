/** The parts of the settings, in their order. Each has an address of its own: /settings?section=NAME. */
import type { ComponentType } from "react";
import { t as devices } from "@/i18n/en/devices";
import { t as mcp } from "@/i18n/en/mcp";
import { t } from "@/i18n/en/settings";
import { AboutSection } from "./AboutSection";
import { AppearanceSection } from "./AppearanceSection";
import { BrowserSection } from "./BrowserSection";
import { DevicesSection } from "./DevicesSection";
import { KeyboardSection } from "./KeyboardSection";
import { LimitsSection } from "./LimitsSection";
import { McpSection } from "./mcp/McpSection";
import { ModelsSection } from "./models/ModelsSection";
import { NotificationsSection } from "./NotificationsSection";
import { SearchSection } from "./SearchSection";

export interface Section {
  name: string;
  title: string;
  Content: ComponentType;
}

export const SECTIONS: readonly [Section, ...Section[]] = [
  { name: "models", title: t("models"), Content: ModelsSection },
  { name: "limits", title: t("limits"), Content: LimitsSection },
  { name: "search", title: t("search"), Content: SearchSection },
  { name: "mcp", title: mcp("section"), Content: McpSection },
  { name: "appearance", title: t("appearance"), Content: AppearanceSection },
  { name: "notifications", title: t("notifications"), Content: NotificationsSection },
  { name: "devices", title: devices("section"), Content: DevicesSection },
  { name: "keyboard", title: t("keyboard"), Content: KeyboardSection },
  { name: "browser", title: t("browser"), Content: BrowserSection },
  { name: "about", title: t("about"), Content: AboutSection },
];
