import { Input as Base } from "@base-ui/react/input";
import { CONTROL, cx } from "./classes";

export interface InputProps extends Omit<Base.Props, "className"> {
  /** Code, names of files, keys: what is read letter by letter. */
  mono?: boolean | undefined;
  className?: string | undefined;
}

/** One line of text. Its name is the label of the `Field` around it, or `aria-label`. */
export function Input({ mono = false, className, ...rest }: InputProps) {
  return (
    <Base
      autoComplete="off"
      {...(mono ? { spellCheck: false, autoCapitalize: "off" } : {})}
      {...rest}
      className={cx(CONTROL, mono && "font-mono", className)}
    />
  );
}
