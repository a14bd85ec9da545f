"""What an agent may call, and what came back."""
