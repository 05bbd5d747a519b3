import { t } from "@/i18n/en/story";
import { Icon } from "@/ui/Icon";
import { Link } from "@/ui/Link";
import { SafeText } from "@/ui/SafeText";
import type { Item } from "../shape";
import { useStory } from "../store";

/** Where a fork begins: what stands above it was said elsewhere. */
export function Carried({ item }: { item: Extract<Item, { kind: "carried" }> }) {
  const { row, deleted } = useStory(item.source).story;
  return (
    <p className="my-3 flex flex-wrap items-center gap-2 border-line border-y py-2 text-ink-2 text-sm">
      <Icon name="arrow-right" size={12} />
      {t("forkedFrom")}
      {row ? (
        <Link to="/sessions/$id" params={{ id: item.source }} className="min-w-0 truncate">
          <SafeText>{row.title || row.directory}</SafeText>
        </Link>
      ) : (
        <span>{t(deleted ? "forkedDeleted" : "forkedEarlier")}</span>
      )}
      <span className="text-ink-3">{t("setMessages", { count: item.messages })}</span>
    </p>
  );
}
