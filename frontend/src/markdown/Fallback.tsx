import { Component, type ReactNode } from "react";
import { SafeText } from "@/ui/SafeText";

interface Props {
  text: string;
  children: ReactNode;
}

/** A piece that cannot be parsed (nested a thousand levels deep, for one) is shown as the text that it is. */
export class Fallback extends Component<Props, { broken: string }> {
  override state = { broken: "" };

  static getDerivedStateFromError(): { broken: string } | null {
    return { broken: "?" };
  }

  override componentDidCatch(): void {
    this.setState({ broken: this.props.text });
  }

  override componentDidUpdate(before: Props): void {
    if (this.state.broken && before.text !== this.props.text) this.setState({ broken: "" });
  }

  override render(): ReactNode {
    return this.state.broken ? <SafeText lines>{this.props.text}</SafeText> : this.props.children;
  }
}
