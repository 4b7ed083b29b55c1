package com.acme.shop;

import java.util.ArrayList;

/** A class of its own that is a list, too. */
public class ItemList extends ArrayList<Item> {
    String title;
}
