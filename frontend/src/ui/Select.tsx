import { Select as Base } from "@base-ui/react/select";
import type { ReactNode } from "react";
import { t } from "@/i18n/en/ui";
import { CONTROL, cx, OPTION, POPUP } from "./classes";
import { Icon } from "./Icon";

export interface Choice<V extends string> {
  value: V;
  label: string;
  /** A second line, for what the label cannot say. */
  hint?: ReactNode | undefined;
  disabled?: boolean | undefined;
}

export interface SelectProps<V extends string> {
  items: readonly Choice<V>[];
  value: V | null;
  onValueChange: (value: V) => void;
  placeholder?: string | undefined;
  disabled?: boolean | undefined;
  name?: string | undefined;
  /** Its name where no `Field` stands around it. */
  "aria-label"?: string | undefined;
  size?: "sm" | "md" | undefined;
  className?: string | undefined;
}

/** One of a few. For more than about 15, or for free text, use `Combobox`. */
export function Select<V extends string>({
  items,
  value,
  onValueChange,
  placeholder,
  disabled,
  name,
  size = "md",
  className,
  "aria-label": label,
}: SelectProps<V>) {
  return (
    <Base.Root
      items={items as Choice<V>[]}
      value={value}
      onValueChange={(next) => next !== null && onValueChange(next)}
      disabled={disabled}
      name={name}
    >
      <Base.Trigger
        aria-label={label}
        className={cx(
          CONTROL,
          "flex items-center justify-between gap-2 text-start select-none",
          size === "sm" && "h-7 min-h-(--target) text-sm",
          className,
        )}
      >
        <Base.Value className="min-w-0 truncate data-placeholder:text-ink-3" placeholder={placeholder ?? t("choose")} />
        <Base.Icon className="text-ink-3">
          <Icon name="chevron-down" size={14} />
        </Base.Icon>
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner sideOffset={4} alignItemWithTrigger={false} className="z-(--layer-over)">
          <Base.Popup className={cx(POPUP, "max-h-(--available-height) min-w-(--anchor-width) overflow-y-auto p-1")}>
            <Base.List>
              {items.map((item) => (
                <Base.Item
                  key={item.value}
                  value={item.value}
                  disabled={item.disabled}
                  className={cx(OPTION, "max-w-96 py-1 pe-3")}
                >
                  <span className="flex size-4 shrink-0 text-accent">
                    <Base.ItemIndicator>
                      <Icon name="check" />
                    </Base.ItemIndicator>
                  </span>
                  <span className="min-w-0">
                    <Base.ItemText>{item.label}</Base.ItemText>
                    {item.hint && <span className="block text-sm text-ink-2">{item.hint}</span>}
                  </span>
                </Base.Item>
              ))}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
